package dev.idempotency.retention;

import dev.idempotency.failure.Causes;
import dev.idempotency.observe.ObserverNotifier;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old rows, and reports how that goes: every run to its observers, changes to the log.
 *
 * <p>{@link CleanupSchedule} runs it, unless {@code idempotency.cleanup.interval=-}: then you may run it yourself. Exceptions
 * of tasks are not thrown by the run; they are in the {@link CleanupRun} that it returns.
 */
public final class Cleanup {

    private static final Logger logger = LoggerFactory.getLogger(Cleanup.class);

    private static final int BATCH_SIZE = 1_000;
    private static final long ROWS_PER_RUN = 500_000;

    private final List<CleanupTask> tasks;
    private final int batchSize;
    private final long rowsPerRun;
    private final ObserverNotifier<CleanupObserver> observers;
    private volatile CleanupStatus status = CleanupStatus.BEFORE_THE_FIRST_RUN;
    private @Nullable CleanupRun lastLogged;

    /** Cleans up with these tasks. */
    public Cleanup(List<CleanupTask> tasks, List<CleanupObserver> observers) {
        this(tasks, BATCH_SIZE, ROWS_PER_RUN, observers);
    }

    /**
     * Cleans up with other limits.
     *
     * @param batchSize rows per transaction
     * @param rowsPerRun rows per run, which then ends even if there are more
     */
    public Cleanup(List<CleanupTask> tasks, int batchSize, long rowsPerRun, List<CleanupObserver> observers) {
        this.tasks = List.copyOf(tasks);
        this.batchSize = batchSize;
        this.rowsPerRun = rowsPerRun;
        this.observers = new ObserverNotifier<>(observers, "the cleanup is not affected");
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
    synchronized CleanupRun run(CountDownLatch stop) {
        CleanupRun run = new CleanupRound(this.batchSize, this.rowsPerRun, stop).run(this.tasks);
        this.status = this.status.after(run);
        if (stop.getCount() > 0) {
            log(run);
        }
        this.observers.tell(observer -> observer.cleanupRan(run));
        return run;
    }

    private void log(CleanupRun run) {
        logger.debug("{}", run);
        boolean asBefore = (this.lastLogged == null) ? run.keepsUp() : wentAlike(this.lastLogged, run);
        this.lastLogged = run;
        if (asBefore) {
            return;
        }
        if (run.failure() != null) {
            logger.warn(
                    "Old rows could not be removed. Messages are processed as ever, but the tables grow. It is tried"
                            + " again at every interval, and logged again when it changes.",
                    run.failure());
        } else if (!run.keepsUp()) {
            logger.warn(
                    "The cleanup does not keep up: it removed {} rows in {} and there are more. Shorten"
                            + " idempotency.cleanup.interval.",
                    run.deleted(),
                    run.took());
        } else {
            logger.info("The cleanup is well again and removed {} rows", run.deleted());
        }
    }

    /** Failures of the same kind are alike, whatever their text, which may have a count. */
    private static boolean wentAlike(CleanupRun one, CleanupRun other) {
        if (one.failure() != null && other.failure() != null) {
            return Causes.of(one.failure()).deepest().getClass()
                    == Causes.of(other.failure()).deepest().getClass();
        }
        return one.failed() == other.failed() && one.keepsUp() == other.keepsUp();
    }
}
