package dev.idempotency.failure;

/** Whose fault a failure is, which decides how long it is retried. */
public enum FailureKind {

    /** The message's, or its listener's: retried some times, then handed to the recoverer. */
    MESSAGE,

    /** Another transaction was in the way. Retried until it no longer is. */
    CONTENTION,

    /** The database's: it is away, refuses connections or writes. Retried until it is back. */
    OUTAGE
}
