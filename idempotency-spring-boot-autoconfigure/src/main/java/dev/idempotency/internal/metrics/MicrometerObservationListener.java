package dev.idempotency.internal.metrics;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Outcome;
import dev.idempotency.event.Stale;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes the outcome into the observation that is current while the listener runs, and so into its span. All values are
 * of high cardinality: the tags of Spring Kafka's timer are not ours to change.
 */
public final class MicrometerObservationListener implements IdempotencyEventListener {

    /** The consumer's name. */
    public static final String CONSUMER = "idempotency.consumer";

    /** The {@link Outcome}, or {@code mixed} for a batch with several. */
    public static final String OUTCOME = "idempotency.outcome";

    /** The message's id; absent where the observation is of several messages. */
    public static final String MESSAGE_ID = "idempotency.message.id";

    /** When the original of a duplicate was processed. */
    public static final String ORIGINAL_PROCESSED_AT = "idempotency.original.processed.at";

    /** The event of a dropped duplicate. */
    public static final String DUPLICATE_EVENT = "idempotency.duplicate";

    /** The event of a message with the id of another one. */
    public static final String CONFLICT_EVENT = "idempotency.conflict";

    /** The event of a dropped message that a newer one had come before. */
    public static final String STALE_EVENT = "idempotency.stale";

    private final ObservationRegistry registry;
    private final String consumer;

    public MicrometerObservationListener(ObservationRegistry registry) {
        this(registry, "");
    }

    private MicrometerObservationListener(ObservationRegistry registry, String consumer) {
        this.registry = registry;
        this.consumer = consumer;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription description) {
        return new MicrometerObservationListener(this.registry, description.name());
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        current(Outcome.PROCESSED, id);
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        Observation observation = current(Outcome.DUPLICATE, duplicate.id());
        String original = "a message that is no longer known";
        if (duplicate.processedAt() != null) {
            observation.highCardinalityKeyValue(
                    ORIGINAL_PROCESSED_AT, duplicate.processedAt().toString());
            original = "the message processed at " + duplicate.processedAt();
        }
        observation.event(Observation.Event.of(DUPLICATE_EVENT, "Duplicate of " + original));
    }

    /** In addition to its outcome. */
    @Override
    public void conflict(Conflict conflict) {
        current()
                .event(Observation.Event.of(CONFLICT_EVENT, "Same id as " + conflict.original() + ", another payload"));
    }

    @Override
    public void stale(Stale stale) {
        current(Outcome.STALE, stale.id())
                .event(Observation.Event.of(
                        STALE_EVENT, "Version %s after %s".formatted(stale.version(), stale.newest())));
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        current(Outcome.MISSING_KEY, null);
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        current(Outcome.FAILED, null);
    }

    private Observation current() {
        return Objects.requireNonNullElse(this.registry.getCurrentObservation(), Observation.NOOP);
    }

    /** Returns the current observation, which has got the outcome. */
    private Observation current(Outcome outcome, @Nullable MessageId id) {
        Observation observation = current();
        if (observation.isNoop()) {
            return observation;
        }
        KeyValue before = observation.getContext().getHighCardinalityKeyValue(OUTCOME);
        if (before != null) {
            observation.getContext().removeHighCardinalityKeyValue(MESSAGE_ID);
        } else if (id != null) {
            observation.highCardinalityKeyValue(MESSAGE_ID, id.value());
        }
        boolean mixed = before != null && !before.getValue().equals(outcome.tag());
        observation.highCardinalityKeyValue(CONSUMER, this.consumer);
        return observation.highCardinalityKeyValue(OUTCOME, mixed ? "mixed" : outcome.tag());
    }
}
