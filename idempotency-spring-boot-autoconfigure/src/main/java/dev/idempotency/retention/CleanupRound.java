package dev.idempotency.retention;

import dev.idempotency.failure.FatalErrors;
import dev.idempotency.retention.CleanupTask.Backlog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A run while it lasts: a batch of every backlog in turn, so that a large one does not keep the others waiting.
 *
 * <p>After each batch it rests for as long as the batch took. So the cleanup takes half of one connection's time at most,
 * and less of a database that is busy.
 */
final class CleanupRound {

    private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final int batchSize;
    private final long rowsPerRun;
    private final CountDownLatch stop;
    private final Deque<Turn> turns = new ArrayDeque<>();
    private final Map<String, Long> deletedByTask = new HashMap<>();
    private long deleted;
    private @Nullable RuntimeException failure;

    CleanupRound(int batchSize, long rowsPerRun, CountDownLatch stop) {
        this.batchSize = batchSize;
        this.rowsPerRun = rowsPerRun;
        this.stop = stop;
    }

    CleanupRun run(List<CleanupTask> tasks) {
        long start = System.nanoTime();
        tasks.forEach(this::enqueue);
        boolean mayGoOn = true;
        while (mayGoOn && !this.turns.isEmpty()) {
            mayGoOn = take(this.turns.remove());
        }
        boolean keepsUp = this.turns.isEmpty() && this.failure == null;
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        return new CleanupRun(Instant.now(), took, this.deletedByTask, keepsUp, this.failure);
    }

    private void enqueue(CleanupTask task) {
        try {
            this.deletedByTask.put(Objects.requireNonNull(task.name(), "No name"), 0L);
            task.backlogs().forEach(backlog -> this.turns.add(new Turn(task, backlog)));
        } catch (Throwable ex) {
            failed(task, ex);
        }
    }

    /** Whether the run may go on after this turn. */
    private boolean take(Turn turn) {
        int limit = (int) Math.min(this.batchSize, this.rowsPerRun - this.deleted);
        long start = System.nanoTime();
        try {
            int removed = turn.backlog().remove(limit);
            this.deleted += removed;
            this.deletedByTask.merge(turn.task().name(), (long) removed, Long::sum);
            if (removed >= limit) {
                this.turns.add(turn);
            }
        } catch (Throwable ex) {
            failed(turn.task(), ex);
        }
        return this.deleted < this.rowsPerRun && !restedUntilStopped(System.nanoTime() - start);
    }

    /** Skips the other backlogs of the task, each of which would fail after a timeout; other tasks continue. */
    private void failed(CleanupTask task, Throwable ex) {
        FatalErrors.rethrow(ex);
        RuntimeException reason = (ex instanceof RuntimeException exception)
                ? exception
                : new IllegalStateException(
                        "The cleanup task " + task.getClass().getName() + " failed", ex);
        if (this.failure == null) {
            this.failure = reason;
        } else if (this.failure != reason) {
            this.failure.addSuppressed(reason);
        }
        this.turns.removeIf(turn -> turn.task() == task);
    }

    private boolean restedUntilStopped(long nanos) {
        try {
            return this.stop.await(Math.min(nanos, LONGEST_REST_NANOS), TimeUnit.NANOSECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private record Turn(CleanupTask task, Backlog backlog) {}
}
