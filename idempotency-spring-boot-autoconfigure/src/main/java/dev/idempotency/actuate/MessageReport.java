package dev.idempotency.actuate;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.StoredVersion;
import dev.idempotency.store.ProcessedMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether a message has been processed, when by the database's clock, and by which record. The id is the stored one: a
 * digest of a long one, or the id of the entity whose newest version is given. Steps by name are {@code done} or, without a known outcome, {@code started}.
 */
record MessageReport(
        String consumer,
        String messageId,
        @Nullable String version,
        boolean processed,
        @Nullable Instant processedAt,
        @Nullable Duration age,
        @Nullable RecordCoordinates record,
        Map<String, String> steps) {

    static MessageReport of(ProcessedMessage message, Map<String, String> steps) {
        return new MessageReport(
                message.id().consumer(),
                message.id().value(),
                null,
                true,
                message.processedAt(),
                message.age(),
                message.coordinates(),
                steps);
    }

    static MessageReport of(StoredVersion stored) {
        return new MessageReport(
                stored.entity().consumer(),
                stored.entity().value(),
                stored.version().toString(),
                true,
                stored.processedAt(),
                stored.age(),
                stored.coordinates(),
                Map.of());
    }

    /** A record before or after the position of its partition; the time of its processing is unknown. */
    static MessageReport of(String consumer, RecordCoordinates record, boolean processed) {
        return new MessageReport(
                consumer, record.toString(), null, processed, null, null, processed ? record : null, Map.of());
    }

    static MessageReport unknown(MessageId id, Map<String, String> steps) {
        return new MessageReport(id.consumer(), id.value(), null, false, null, null, null, steps);
    }
}
