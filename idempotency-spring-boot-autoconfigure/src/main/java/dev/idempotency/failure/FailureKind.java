package dev.idempotency.failure;

/** Whose fault a failure is, which decides how long it is retried. */
public enum FailureKind {

    /** The message's, or that of the code that handles it: retried some times, then given to the recoverer. */
    MESSAGE,

    /** Nobody's: another transaction stood in the way. Retried until it no longer does. */
    CONTENTION,

    /** The database's: it is away, refuses connections or writes. Retried until it is back. */
    OUTAGE
}
