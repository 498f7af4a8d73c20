package dev.idempotency.retention;

import org.jspecify.annotations.Nullable;

/**
 * How the cleanup of this application instance is doing. Others that share its database have their own.
 *
 * @param lastRun the last run; {@code null} before the first
 * @param runs how many there have been
 * @param failures how many of them failed
 * @param deleted how many rows they removed
 */
public record CleanupStatus(@Nullable CleanupRun lastRun, long runs, long failures, long deleted) {

    static final CleanupStatus BEFORE_THE_FIRST_RUN = new CleanupStatus(null, 0, 0, 0);

    /** Whether the last run left nothing to do; true before the first one. */
    public boolean keepsUp() {
        return this.lastRun == null || this.lastRun.drained();
    }

    CleanupStatus after(CleanupRun run) {
        return new CleanupStatus(
                run, this.runs + 1, this.failures + (run.failed() ? 1 : 0), this.deleted + run.deleted());
    }
}
