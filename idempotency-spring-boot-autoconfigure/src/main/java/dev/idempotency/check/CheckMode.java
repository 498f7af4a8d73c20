package dev.idempotency.check;

/** What becomes of findings. */
public enum CheckMode {

    /** The application does not start with a finding that matters; lesser ones are logged. */
    FAIL,

    /** All findings are logged, and none keeps the application from starting unless a listener cannot work at all. */
    WARN,

    /** Nothing is looked for but what keeps a listener from working at all. */
    OFF
}
