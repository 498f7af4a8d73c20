package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that has been processed.
 *
 * @param id the message
 * @param coordinates the record whose delivery was processed
 * @param processedAt when, by the database's clock
 * @param age how long ago that was, by the database's clock; never negative
 * @param payloadDigest the digest of its payload; {@code null} if unknown
 */
public record ProcessedMessage(
        MessageId id,
        RecordCoordinates coordinates,
        Instant processedAt,
        Duration age,
        @Nullable Long payloadDigest) {

    public ProcessedMessage {
        if (age.isNegative()) {
            age = Duration.ZERO;
        }
    }

    /** One of whose payload nothing is known. */
    public ProcessedMessage(MessageId id, RecordCoordinates coordinates, Instant processedAt, Duration age) {
        this(id, coordinates, processedAt, age, null);
    }
}
