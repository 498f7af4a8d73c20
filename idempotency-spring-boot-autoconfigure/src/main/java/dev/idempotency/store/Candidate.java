package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One message of a delivery that asks to enter: where it stands, and what is known of it before the claim.
 *
 * @param position where it stands in the delivery
 * @param record the record that was delivered
 * @param id its identity; without one it enters unclaimed
 * @param coordinates where its record stood first
 * @param payloadDigest the digest of its payload; {@code null} if payloads are not compared
 * @param version which version of which entity it carries; {@code null} if it is not recognised by that
 */
public record Candidate(
        int position,
        ConsumerRecord<?, ?> record,
        @Nullable MessageId id,
        RecordCoordinates coordinates,
        @Nullable Long payloadDigest,
        @Nullable EntityVersion version) {

    /** One that is recognised by its id or by where it stands, and whose payload is not looked at. */
    public Candidate(int position, ConsumerRecord<?, ?> record, @Nullable MessageId id, RecordCoordinates coordinates) {
        this(position, record, id, coordinates, null, null);
    }

    /** One whose payload is looked at. */
    public Candidate(
            int position,
            ConsumerRecord<?, ?> record,
            @Nullable MessageId id,
            RecordCoordinates coordinates,
            @Nullable Long payloadDigest) {
        this(position, record, id, coordinates, payloadDigest, null);
    }

    /** One that is recognised by its version. */
    public Candidate(int position, ConsumerRecord<?, ?> record, EntityVersion version) {
        this(position, record, version.messageId(), RecordCoordinates.original(record), null, version);
    }

    /** One that may be a copy of another record, as in retry topics, and is recognised all the same. */
    public Candidate(int position, ConsumerRecord<?, ?> record, @Nullable MessageId id) {
        this(position, record, id, RecordCoordinates.original(record));
    }
}
