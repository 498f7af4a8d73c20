package dev.idempotency.retention;

/**
 * Hears of the cleanup that forgets old messages.
 *
 * <p>Define beans of this type to hear of it, too. What an observer throws is logged and goes no further.
 */
@FunctionalInterface
public interface CleanupObserver {

    /** The cleanup has run, or has failed and will try again. */
    void cleanupRan(CleanupRun run);
}
