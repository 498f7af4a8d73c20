package dev.idempotency.check;

/** How much a finding matters, most first. */
public enum Level {

    /** The application does not start. */
    FAIL,

    /** It is logged as a warning. */
    WARN,

    /** It is logged as information. */
    INFORM
}
