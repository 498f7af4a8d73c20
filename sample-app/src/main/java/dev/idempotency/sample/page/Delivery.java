package dev.idempotency.sample.page;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.Duplicate;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What became of a message, as the page tells it.
 *
 * @param number counts deliveries, so that the page can ask for those it does not have
 * @param time when
 * @param consumer whose message it was
 * @param outcome what became of it
 * @param messages how many: a batch that is rolled back is one failure of several messages
 * @param messageId which message, unless it failed
 * @param coordinates where its record stands, unless it failed
 * @param kind whose doing a duplicate is
 * @param ageMillis how long ago a duplicate's original was processed
 */
record Delivery(
        long number,
        Instant time,
        String consumer,
        Outcome outcome,
        int messages,
        @Nullable String messageId,
        @Nullable String coordinates,
        @Nullable DuplicateKind kind,
        @Nullable Long ageMillis) {

    enum Outcome {
        PROCESSED,
        DUPLICATE,
        FAILED
    }

    static Delivery processed(long number, MessageId id, RecordCoordinates coordinates) {
        return new Delivery(
                number,
                Instant.now(),
                id.consumer(),
                Outcome.PROCESSED,
                1,
                id.value(),
                coordinates.toString(),
                null,
                null);
    }

    static Delivery duplicate(long number, Duplicate duplicate) {
        return new Delivery(
                number,
                Instant.now(),
                duplicate.id().consumer(),
                Outcome.DUPLICATE,
                1,
                duplicate.id().value(),
                duplicate.coordinates().toString(),
                duplicate.kind(),
                (duplicate.age() != null) ? duplicate.age().toMillis() : null);
    }

    static Delivery failed(long number, String consumer, int messages) {
        return new Delivery(number, Instant.now(), consumer, Outcome.FAILED, messages, null, null, null, null);
    }
}
