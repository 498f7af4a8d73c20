package dev.idempotency.producer;

import java.util.UUID;

/**
 * Mints UUIDs of version 7: the time in milliseconds, then 74 bits of a cryptographic random number. Ids that are minted
 * one after the other stand side by side in an index, and are told from all others by those bits alone, whatever clocks do.
 */
final class TimeOrderedId {

    private static final long RANDOM_BITS = 0x0FFFL;
    private static final long VERSION_7 = 0x7000L;

    private TimeOrderedId() {}

    static UUID mint() {
        return at(System.currentTimeMillis());
    }

    static UUID at(long millis) {
        UUID random = UUID.randomUUID();
        long time = (millis << 16) | VERSION_7 | (random.getMostSignificantBits() & RANDOM_BITS);
        return new UUID(time, random.getLeastSignificantBits());
    }
}
