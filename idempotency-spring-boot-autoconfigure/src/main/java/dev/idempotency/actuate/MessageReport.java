package dev.idempotency.actuate;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.store.ProcessedMessage;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Whether a message has been processed, when, and by which record.
 *
 * @param consumer the consumer
 * @param messageId the id as it is stored: a digest, where the message's own is too long
 * @param processed whether it is remembered as processed
 * @param processedAt when, by the database's clock
 * @param age how long ago that was
 * @param record the record whose delivery was processed
 */
record MessageReport(
        String consumer,
        String messageId,
        boolean processed,
        @Nullable Instant processedAt,
        @Nullable Duration age,
        @Nullable RecordCoordinates record) {

    static MessageReport of(ProcessedMessage message) {
        return new MessageReport(
                message.id().consumer(),
                message.id().value(),
                true,
                message.processedAt(),
                message.age(),
                message.coordinates());
    }

    static MessageReport unknown(MessageId id) {
        return new MessageReport(id.consumer(), id.value(), false, null, null, null);
    }
}
