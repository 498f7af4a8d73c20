package dev.idempotency.actuate;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.Outcome;
import dev.idempotency.observe.Stale;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Counts what became of one consumer's messages in this instance, since its start. */
final class ConsumerTally implements ConsumerObserver {

    private final Map<Outcome, LongAdder> outcomes = adders(Outcome.class);
    private final Map<DuplicateKind, LongAdder> kinds = adders(DuplicateKind.class);
    private final LongAdder conflicts = new LongAdder();
    private volatile @Nullable LastHit lastHit;

    /**
     * A duplicate that was dropped.
     *
     * @param at when, by the clock of this instance
     * @param kind whose doing it is
     * @param messageId the message
     * @param record the record that was dropped
     * @param age how long before the original was processed; absent if it is no longer known
     */
    record LastHit(
            Instant at,
            String kind,
            String messageId,
            RecordCoordinates record,
            @Nullable Duration age) {}

    private static <E extends Enum<E>> Map<E, LongAdder> adders(Class<E> type) {
        Map<E, LongAdder> adders = new EnumMap<>(type);
        for (E constant : type.getEnumConstants()) {
            adders.put(constant, new LongAdder());
        }
        return adders;
    }

    /** How many messages had each outcome. */
    Map<String, Long> messages() {
        return sums(this.outcomes, Outcome::tag);
    }

    /** How many duplicates there were of each kind. */
    Map<String, Long> hits() {
        return sums(this.kinds, ConsumerTally::tag);
    }

    /** How many messages had the id of another one. */
    long conflicts() {
        return this.conflicts.sum();
    }

    private static <E> Map<String, Long> sums(Map<E, LongAdder> adders, Function<E, String> name) {
        Map<String, Long> sums = new LinkedHashMap<>();
        adders.forEach((counted, adder) -> sums.put(name.apply(counted), adder.sum()));
        return sums;
    }

    private static String tag(DuplicateKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** The last duplicate, if there was one. */
    @Nullable
    LastHit lastHit() {
        return this.lastHit;
    }

    /** The share of duplicates in what was processed or dropped; {@code null} if nothing was. */
    @Nullable
    Double hitRatio() {
        long duplicates = this.outcomes.get(Outcome.DUPLICATE).sum();
        long all = duplicates
                + this.outcomes.get(Outcome.STALE).sum()
                + this.outcomes.get(Outcome.PROCESSED).sum();
        return (all > 0) ? (double) duplicates / all : null;
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.outcomes.get(Outcome.PROCESSED).increment();
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.outcomes.get(Outcome.DUPLICATE).increment();
        this.kinds.get(duplicate.kind()).increment();
        this.lastHit = new LastHit(
                Instant.now(), tag(duplicate.kind()), duplicate.id().value(), duplicate.coordinates(), duplicate.age());
    }

    @Override
    public void conflict(Conflict conflict) {
        this.conflicts.increment();
    }

    @Override
    public void stale(Stale stale) {
        this.outcomes.get(Outcome.STALE).increment();
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.outcomes.get(Outcome.MISSING_KEY).increment();
    }

    @Override
    public void failed(int messages) {
        this.outcomes.get(Outcome.FAILED).add(messages);
    }
}
