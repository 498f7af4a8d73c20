package dev.idempotency.retention;

import java.time.Clock;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Removes what may be forgotten, and tells how that goes.
 *
 * <p>{@link CleanupSchedule} runs it; with {@code idempotency.cleanup.interval=-} nobody does, and you may run it yourself.
 * It fails for no reason: what goes wrong is in the run's report.
 */
public final class Cleanup {

    private final List<CleanupTask> tasks;
    private final CleanupLimits limits;
    private final CleanupObserver observer;
    private final CleanupLog log = new CleanupLog();
    private volatile CleanupStatus status = CleanupStatus.BEFORE_THE_FIRST_RUN;

    public Cleanup(List<CleanupTask> tasks, CleanupLimits limits, List<CleanupObserver> observers) {
        this.tasks = List.copyOf(tasks);
        this.limits = limits;
        this.observer = new CompositeCleanupObserver(observers);
    }

    /** How it is doing. */
    public CleanupStatus status() {
        return this.status;
    }

    /** Removes what may be forgotten, up to the limits of a run. */
    public CleanupRun run() {
        return run(new CountDownLatch(1));
    }

    /** The same, ending after the present batch when {@code stop} is counted down. */
    synchronized CleanupRun run(CountDownLatch stop) {
        CleanupRun run = new CleanupRound(this.limits, stop, Clock.systemUTC()).run(this.tasks);
        this.status = this.status.after(run);
        if (stop.getCount() > 0) {
            this.log.cleanedUp(run);
        }
        if (run.failure() != null) {
            this.observer.cleanupFailed(run.failure());
        } else {
            this.observer.cleanupRan(run.duration(), run.deleted(), run.drained());
        }
        return run;
    }
}
