package dev.idempotency.retention;

/**
 * Observes the cleanup.
 *
 * <p>Define beans of this type. Exceptions of an observer are logged, and do not affect the cleanup.
 */
@FunctionalInterface
public interface CleanupObserver {

    /** The cleanup has run, or has failed and will try again. */
    void cleanupRan(CleanupRun run);
}
