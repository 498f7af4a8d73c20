package dev.idempotency.retention;

import dev.idempotency.observe.CleanupRun;
import org.jspecify.annotations.Nullable;

/**
 * Sums up the runs of the cleanup of this application instance.
 *
 * @param lastRun the last run; {@code null} before the first
 * @param lastSuccess the last run that did not fail; {@code null} if none has succeeded
 * @param runs how many there have been
 * @param failures how many of them failed
 * @param deleted how many rows they removed
 */
public record CleanupStatus(
        @Nullable CleanupRun lastRun, @Nullable CleanupRun lastSuccess, long runs, long failures, long deleted) {

    static final CleanupStatus BEFORE_THE_FIRST_RUN = new CleanupStatus(null, null, 0, 0, 0);

    /** Whether the last run left nothing to do; true before the first one. */
    public boolean keepsUp() {
        return this.lastRun == null || this.lastRun.keepsUp();
    }

    CleanupStatus after(CleanupRun run) {
        return new CleanupStatus(
                run,
                run.failed() ? this.lastSuccess : run,
                this.runs + 1,
                this.failures + (run.failed() ? 1 : 0),
                this.deleted + run.deleted());
    }
}
