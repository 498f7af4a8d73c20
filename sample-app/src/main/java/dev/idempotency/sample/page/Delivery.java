package dev.idempotency.sample.page;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Duplicate;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a delivery, as shown on the page.
 *
 * @param number counts deliveries, so that the page can ask for those it does not have
 * @param time when
 * @param consumer whose message it was
 * @param outcome what became of it
 * @param messageId which message, unless it failed
 * @param coordinates where its record is, unless it came by HTTP
 * @param kind whose doing a duplicate is
 * @param ageMillis how long ago a duplicate's original was processed
 */
record Delivery(
        long number,
        Instant time,
        String consumer,
        Outcome outcome,
        @Nullable String messageId,
        @Nullable String coordinates,
        @Nullable DuplicateKind kind,
        @Nullable Long ageMillis) {

    enum Outcome {
        PROCESSED,
        DUPLICATE,
        FAILED,
        DEAD_LETTERED
    }

    static Delivery processed(long number, MessageId id, RecordCoordinates coordinates) {
        return new Delivery(
                number, Instant.now(), id.consumer(), Outcome.PROCESSED, id.value(), where(coordinates), null, null);
    }

    static Delivery duplicate(long number, Duplicate duplicate) {
        return new Delivery(
                number,
                Instant.now(),
                duplicate.id().consumer(),
                Outcome.DUPLICATE,
                duplicate.id().value(),
                where(duplicate.coordinates()),
                duplicate.kind(),
                (duplicate.age() != null) ? duplicate.age().toMillis() : null);
    }

    static Delivery failed(long number, String consumer, RecordCoordinates coordinates) {
        String where = where(coordinates);
        return new Delivery(number, Instant.now(), consumer, Outcome.FAILED, null, where, null, null);
    }

    static Delivery deadLettered(long number, String consumer, RecordCoordinates coordinates) {
        String where = where(coordinates);
        return new Delivery(number, Instant.now(), consumer, Outcome.DEAD_LETTERED, null, where, null, null);
    }

    /** Returns {@code null} for claims from code, which have no record. */
    private static @Nullable String where(RecordCoordinates coordinates) {
        return coordinates.topic().equals("-") ? null : coordinates.toString();
    }
}
