package dev.idempotency.event;

/** What became of a step. */
public enum StepOutcome {

    /** It was called, and its result is recorded. */
    EXECUTED,

    /** An earlier attempt has recorded it: it was not called. */
    REPLAYED,

    /** Its call has thrown, and it will be called again. */
    FAILED,

    /** Nobody knows whether it happened: it will not be called until an operator has settled it. */
    UNKNOWN
}
