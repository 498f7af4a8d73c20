package dev.idempotency.event;

/** The outcome of a step. */
public enum StepOutcome {

    /** The step was called, and its result is recorded. */
    EXECUTED,

    /** An earlier attempt has recorded the step: it was not called again. */
    REPLAYED,

    /** The call has thrown an exception: the step will be called again. */
    FAILED,

    /** It is unknown whether the step happened: it will not be called until an operator has settled it. */
    UNKNOWN
}
