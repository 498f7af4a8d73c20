package dev.idempotency;

/** Handling of messages that have the id of another one but another payload, so that they only look like duplicates. */
public enum OnConflict {

    /** It is dropped as a duplicate, counted, and warned of. */
    WARN,

    /** It fails with a {@link MessageConflictException}: it is not retried, and goes to the recoverer. */
    FAIL,

    /** Payloads are not looked at: it is dropped as a duplicate. */
    OFF
}
