package dev.idempotency.dedup;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.database.VersionClaim;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One message of a delivery, and what is known of it before the claim.
 *
 * @param id without one it is processed unclaimed
 * @param coordinates where its record stood first, which differ from the record's own for a copy in a retry topic
 * @param payloadDigest {@code null} if payloads are not compared
 */
public record InboundMessage(
        int position,
        ConsumerRecord<?, ?> record,
        @Nullable MessageId id,
        RecordCoordinates coordinates,
        @Nullable Long payloadDigest,
        @Nullable VersionClaim version) {

    /** One that is recognised by its id or coordinates, and whose payload is not compared. */
    public InboundMessage(
            int position, ConsumerRecord<?, ?> record, @Nullable MessageId id, RecordCoordinates coordinates) {
        this(position, record, id, coordinates, null, null);
    }
}
