package dev.idempotency.retention;

/**
 * Hears of every run of the cleanup.
 *
 * <p>Define beans of this type to count them. What a listener throws is logged and goes no further.
 */
@FunctionalInterface
public interface CleanupListener {

    /** A run has ended, well or badly. */
    void cleanedUp(CleanupRun run);
}
