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
 * @param number the number of the delivery, so that the page can request new ones
 * @param time the time of the outcome
 * @param consumer the name of the consumer
 * @param outcome the outcome
 * @param messageId the id of the message, unless it failed
 * @param coordinates topic, partition and offset, unless it was sent by HTTP
 * @param kind whether Kafka or the producer caused a duplicate
 * @param ageMillis the time since a duplicate's original was processed
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
