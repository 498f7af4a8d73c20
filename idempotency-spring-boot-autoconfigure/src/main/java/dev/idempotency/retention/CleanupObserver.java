package dev.idempotency.retention;

import java.time.Duration;

/**
 * Hears of the cleanup that forgets old messages.
 *
 * <p>Define beans of this type to hear of it, too. What an observer throws is logged and goes no further.
 */
public interface CleanupObserver {

    /**
     * The cleanup has run.
     *
     * @param took how long
     * @param deleted how many messages it forgot
     * @param keepsUp whether nothing was left that it should have forgotten
     */
    void cleanupRan(Duration took, long deleted, boolean keepsUp);

    /** The cleanup has failed, and will try again. */
    void cleanupFailed(RuntimeException reason);
}
