package dev.idempotency.retention;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Remembers how the cleanup of this instance went last. */
public final class LastCleanup implements CleanupObserver {

    private volatile @Nullable Run run;
    private volatile @Nullable Failure failure;

    /**
     * A run that went to its end.
     *
     * @param at when it ended, by the clock of this instance
     * @param took how long
     * @param deleted how many messages it forgot
     * @param keepsUp whether nothing was left that it should have forgotten
     */
    public record Run(Instant at, Duration took, long deleted, boolean keepsUp) {}

    /**
     * A run that failed.
     *
     * @param at when, by the clock of this instance
     * @param reason why
     */
    public record Failure(Instant at, String reason) {}

    @Override
    public void cleanupRan(Duration took, long deleted, boolean keepsUp) {
        this.run = new Run(Instant.now(), took, deleted, keepsUp);
        this.failure = null;
    }

    @Override
    public void cleanupFailed(RuntimeException reason) {
        this.failure = new Failure(Instant.now(), reason.toString());
    }

    /** The last run that went to its end, if there was one. */
    public @Nullable Run run() {
        return this.run;
    }

    /** The last failure, if no run has gone to its end since. */
    public @Nullable Failure failure() {
        return this.failure;
    }
}
