package dev.idempotency;

/**
 * What happens to a message that has the id of another one: it was published by itself, with another payload, so that it
 * is no duplicate though it looks like one.
 */
public enum OnConflict {

    /** As {@code idempotency.conflicts} says. */
    DEFAULT,

    /** It is dropped as a duplicate, counted, and warned of. */
    WARN,

    /** It fails with a {@link MessageConflictException}: it is not retried, and goes to the recoverer. */
    FAIL,

    /** Payloads are not looked at: it is dropped as a duplicate. */
    OFF
}
