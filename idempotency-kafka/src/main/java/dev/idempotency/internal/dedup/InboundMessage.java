package dev.idempotency.internal.dedup;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.VersionClaim;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One message of a delivery before the claim: unclaimed without an id, compared with a payload digest only; {@code lock} is the business key that it locks. A copy in a
 * retry topic has the coordinates of the original.
 */
public record InboundMessage(
        int position,
        ConsumerRecord<?, ?> record,
        @Nullable MessageId id,
        RecordCoordinates coordinates,
        @Nullable Long payloadDigest,
        @Nullable VersionClaim version,
        @Nullable String lock) {}
