package dev.idempotency.kafka;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The number by which a payload is told from others: its length, and the CRC-32C of its bytes. Two that differ have the same
 * one if they are of the same length, and then once in four billion times.
 */
final class PayloadDigest {

    /** That of a record without a value, which is not an empty one: no length is negative. */
    static final long OF_NO_VALUE = -1;

    private PayloadDigest() {}

    static long of(byte[] payload) {
        return of(ByteBuffer.wrap(payload));
    }

    /** Leaves the buffer where it stands. */
    static long of(ByteBuffer payload) {
        CRC32C crc = new CRC32C();
        crc.update(payload.duplicate());
        return ((long) payload.remaining() << Integer.SIZE) | crc.getValue();
    }
}
