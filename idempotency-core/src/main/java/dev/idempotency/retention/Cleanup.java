package dev.idempotency.retention;

import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.event.IdempotencyEventNotifier;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old rows, and reports every run to its observers.
 *
 * <p>It runs on a schedule, unless {@code idempotency.cleanup.enabled=false}: then you may run it yourself. Exceptions
 * of tasks are not thrown by the run; they are in the {@link CleanupRun} that it returns.
 */
public final class Cleanup {

    private static final Logger logger = LoggerFactory.getLogger(Cleanup.class);

    private static final int BATCH_SIZE = 1_000;
    private static final long ROWS_PER_RUN = 500_000;
    private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final List<CleanupTask> tasks;
    private final int batchSize;
    private final long rowsPerRun;
    private final IdempotencyEventListener observers;
    private volatile CleanupStatus status = CleanupStatus.BEFORE_THE_FIRST_RUN;

    /** Cleans up with these tasks. */
    public Cleanup(List<CleanupTask> tasks, List<IdempotencyEventListener> observers) {
        this(tasks, BATCH_SIZE, ROWS_PER_RUN, observers);
    }

    /**
     * Cleans up with other limits.
     *
     * @param batchSize rows per transaction
     * @param rowsPerRun rows per run, which then ends even if there are more
     */
    public Cleanup(List<CleanupTask> tasks, int batchSize, long rowsPerRun, List<IdempotencyEventListener> observers) {
        this.tasks = List.copyOf(tasks);
        this.batchSize = batchSize;
        this.rowsPerRun = rowsPerRun;
        this.observers = IdempotencyEventNotifier.of(observers);
    }

    /** How it is doing. */
    public CleanupStatus status() {
        return this.status;
    }

    /** Removes old rows, up to the limit of a run. */
    public CleanupRun run() {
        return run(new CountDownLatch(1));
    }

    /** The same, ending after the present batch when {@code stop} is counted down. */
    public synchronized CleanupRun run(CountDownLatch stop) {
        CleanupRun run = new Round(stop).run();
        this.status = this.status.after(run);
        if (stop.getCount() > 0) {
            log(run);
        }
        this.observers.cleanupRan(run);
        return run;
    }

    private static void log(CleanupRun run) {
        logger.debug("{}", run, run.failure());
        if (run.failure() != null) {
            logger.warn(
                    "Old rows could not be removed, so the tables grow. Messages are processed as ever. It is tried again at"
                            + " every interval. {}",
                    run.failure().toString());
        } else if (!run.keepsUp()) {
            logger.warn(
                    "The cleanup does not keep up: it removed {} rows in {} and there are more. Shorten"
                            + " idempotency.cleanup.interval.",
                    run.deleted(),
                    run.took());
        }
    }

    private record Turn(CleanupTask task, Backlog backlog) {}

    /**
     * A run while it lasts: a batch of every backlog in turn, so that a large one does not keep the others waiting.
     *
     * <p>After each batch it rests for as long as the batch took. So the cleanup takes half of one connection's time at
     * most, and less of a database that is busy.
     */
    private final class Round {

        private final CountDownLatch stop;
        private final Deque<Turn> turns = new ArrayDeque<>();
        private final Map<String, Long> deletedByTask = new HashMap<>();
        private long deleted;
        private @Nullable RuntimeException failure;

        Round(CountDownLatch stop) {
            this.stop = stop;
        }

        CleanupRun run() {
            long start = System.nanoTime();
            Cleanup.this.tasks.forEach(this::enqueue);
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
            int limit = (int) Math.min(Cleanup.this.batchSize, Cleanup.this.rowsPerRun - this.deleted);
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
            return this.deleted < Cleanup.this.rowsPerRun && !restedUntilStopped(System.nanoTime() - start);
        }

        /** Skips the other backlogs of the task, each of which would fail after a timeout; other tasks continue. */
        private void failed(CleanupTask task, Throwable ex) {
            Causes.rethrowIfFatal(ex);
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
    }

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
}
