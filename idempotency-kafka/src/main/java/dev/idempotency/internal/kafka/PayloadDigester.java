package dev.idempotency.internal.kafka;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Digests payloads: the length of a payload and the CRC-32C of its bytes. Two payloads that differ have the same digest if they
 * are of the same length, and then once in four billion times.
 */
@FunctionalInterface
public interface PayloadDigester {

    /** The digest of no value, which is not an empty one: no length is negative. */
    long OF_NO_VALUE = -1;

    PayloadDigester NONE = record -> null;

    /** Returns the digest of a record's payload, or {@code null} if the received bytes are not known. */
    @Nullable
    Long digest(ConsumerRecord<?, ?> record);

    /** Digests a buffer, and leaves its position alone. */
    static long of(ByteBuffer payload) {
        CRC32C crc = new CRC32C();
        crc.update(payload.duplicate());
        return ((long) payload.remaining() << Integer.SIZE) | crc.getValue();
    }
}
