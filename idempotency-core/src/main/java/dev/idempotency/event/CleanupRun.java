package dev.idempotency.event;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a run of the cleanup went.
 *
 * @param at when it ended, by the clock of this instance
 * @param took how long it took
 * @param deletedByTask how many rows it removed, by the task's name; also of a run that failed
 * @param keepsUp whether it removed all there was, rather than ending at its limit, by a failure, or by a shutdown
 * @param failure what went wrong first; {@code null} if nothing did
 */
public record CleanupRun(
        Instant at,
        Duration took,
        Map<String, Long> deletedByTask,
        boolean keepsUp,
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
