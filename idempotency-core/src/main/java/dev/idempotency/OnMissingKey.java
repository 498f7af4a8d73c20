package dev.idempotency;

/** How messages without a key are handled. */
public enum OnMissingKey {

    /** It fails, and is not retried. */
    FAIL,

    /** The listener is called without deduplication. */
    PROCESS,

    /** It is acknowledged, counted and warned of; the listener is not called. */
    SKIP
}
