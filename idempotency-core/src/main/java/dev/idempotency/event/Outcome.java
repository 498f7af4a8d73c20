package dev.idempotency.event;

import java.util.Locale;

/** The outcome of a message. */
public enum Outcome {

    /** Its effects have been committed. */
    PROCESSED,

    /** It had been processed before, and was dropped. */
    DUPLICATE,

    /** A newer version of its entity had been processed before, and it was dropped. */
    STALE,

    /** It was rolled back; it is redelivered or goes to the recoverer. Counted once per attempt. */
    FAILED,

    /** It has no usable key: it failed, was skipped, or was processed without deduplication. */
    MISSING_KEY;

    /** The name in meters, traces and reports. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }
}
