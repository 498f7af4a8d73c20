package dev.idempotency.retention;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of the cleanup, after it has ended.
 *
 * @param startedAt when it began, by this machine's clock
 * @param duration how long it took
 * @param deletedByTask how many rows it removed, by the task's name; also of a run that failed
 * @param drained whether it removed all there was, rather than ending at its limit, by a failure, or by a shutdown
 * @param failure what went wrong first; {@code null} if nothing did
 */
public record CleanupRun(
        Instant startedAt,
        Duration duration,
        Map<String, Long> deletedByTask,
        boolean drained,
        @Nullable RuntimeException failure) {

    public CleanupRun {
        deletedByTask = Map.copyOf(deletedByTask);
    }

    /** How many rows it removed. */
    public long deleted() {
        return this.deletedByTask.values().stream().mapToLong(Long::longValue).sum();
    }

    public boolean failed() {
        return this.failure != null;
    }
}
