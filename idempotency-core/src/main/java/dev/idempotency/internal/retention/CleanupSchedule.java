package dev.idempotency.internal.retention;

import dev.idempotency.retention.Cleanup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Runs the cleanup after every interval, which is up to a fifth shorter or longer each time, so that several instances do not
 * run in step.
 */
public final class CleanupSchedule extends RepeatedWork {

    private static final double JITTER = 0.2;

    private final Cleanup cleanup;
    private final Duration interval;

    public CleanupSchedule(Cleanup cleanup, Duration interval) {
        super("idempotency-cleanup");
        this.cleanup = cleanup;
        this.interval = interval;
    }

    @Override
    protected Duration pauseAfter(long runs) {
        double factor = 1 + JITTER * ThreadLocalRandom.current().nextDouble(-1, 1);
        return Duration.ofNanos((long) (this.interval.toNanos() * factor));
    }

    @Override
    protected void work(CountDownLatch stop) {
        this.cleanup.run(stop);
    }
}
