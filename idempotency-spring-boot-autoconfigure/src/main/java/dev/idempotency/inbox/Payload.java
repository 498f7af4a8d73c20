package dev.idempotency.inbox;

import org.jspecify.annotations.Nullable;

/**
 * The value of a record, or why it was left out.
 *
 * @param bytes exactly what was received; {@code null} for a record without a value, and where it was left out
 * @param size how many bytes were received; {@code null} for a record without a value, or if it is not known
 * @param omitted why the bytes were left out; {@code null} if they were not
 */
record Payload(
        byte @Nullable [] bytes,
        @Nullable Integer size,
        @Nullable String omitted) {

    /** A record without a value. */
    static final Payload NONE = new Payload(null, null, null);

    /** What was received is not known: somebody put another record in the place of the one that was. */
    static final Payload UNKNOWN = new Payload(null, null, "unknown");

    static Payload of(byte[] bytes) {
        return new Payload(bytes, bytes.length, null);
    }

    static Payload tooLarge(int size) {
        return new Payload(null, size, "too large");
    }
}
