package dev.idempotency.key;

/** What happens to a message without a key. */
public enum OnMissingKey {

    /** It fails, and is not retried. */
    FAIL,

    /** The listener is called without deduplication. */
    PROCESS
}
