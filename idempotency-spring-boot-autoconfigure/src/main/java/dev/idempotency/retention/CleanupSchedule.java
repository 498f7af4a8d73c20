package dev.idempotency.retention;

import dev.idempotency.job.RepeatedWork;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Runs the cleanup again and again.
 *
 * <p>Every pause is up to a fifth shorter or longer than the interval, so that several instances do not march in step.
 */
public final class CleanupSchedule extends RepeatedWork {

    static final String THREAD_NAME = "idempotency-cleanup";

    private static final double JITTER = 0.2;
    private static final Duration LONGEST_INITIAL_DELAY = Duration.ofSeconds(30);

    private final Cleanup cleanup;
    private final Duration interval;

    public CleanupSchedule(Cleanup cleanup, Duration interval) {
        super(THREAD_NAME);
        this.cleanup = cleanup;
        this.interval = interval;
    }

    @Override
    protected Duration pauseAfter(long runs) {
        boolean sooner = runs == 0 && this.interval.compareTo(LONGEST_INITIAL_DELAY) > 0;
        return jittered(sooner ? LONGEST_INITIAL_DELAY : this.interval);
    }

    static Duration jittered(Duration pause) {
        double factor = 1 + JITTER * ThreadLocalRandom.current().nextDouble(-1, 1);
        return Duration.ofNanos((long) (pause.toNanos() * factor));
    }

    @Override
    protected void work(CountDownLatch stop) {
        this.cleanup.run(stop);
    }
}
