package dev.idempotency.retention;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the cleanup again and again on a daemon thread of its own, from the application's start to its end.
 *
 * <p>Every pause is up to a fifth shorter or longer than the interval, so that several instances do not march in step.
 */
public final class CleanupSchedule implements SmartLifecycle {

    static final String THREAD_NAME = "idempotency-cleanup";

    private static final Logger logger = LoggerFactory.getLogger(CleanupSchedule.class);

    private static final double JITTER = 0.2;
    private static final Duration PATIENCE_AT_STOP = Duration.ofSeconds(10);

    private final Cleanup cleanup;
    private final Duration initialDelay;
    private final Duration interval;
    private @Nullable Worker worker;

    public CleanupSchedule(Cleanup cleanup, Duration initialDelay, Duration interval) {
        this.cleanup = cleanup;
        this.initialDelay = initialDelay;
        this.interval = interval;
    }

    @Override
    public synchronized void start() {
        if (this.worker == null) {
            this.worker = new Worker();
            this.worker.start();
        }
    }

    /** Waits for the present batch, and for no more. Nothing is interrupted: some drivers would lose their database. */
    @Override
    public synchronized void stop() {
        if (this.worker != null) {
            this.worker.end();
            this.worker = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return this.worker != null;
    }

    static Duration jittered(Duration pause) {
        double factor = 1 + JITTER * ThreadLocalRandom.current().nextDouble(-1, 1);
        return Duration.ofNanos((long) (pause.toNanos() * factor));
    }

    private final class Worker extends Thread {

        private final CountDownLatch stop = new CountDownLatch(1);

        Worker() {
            super(THREAD_NAME);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                Duration pause = CleanupSchedule.this.initialDelay;
                while (!this.stop.await(jittered(pause).toNanos(), TimeUnit.NANOSECONDS)) {
                    CleanupSchedule.this.cleanup.run(this.stop);
                    pause = CleanupSchedule.this.interval;
                }
            } catch (InterruptedException ex) {
                logger.debug("The cleanup was interrupted and ends");
            }
        }

        void end() {
            this.stop.countDown();
            try {
                join(PATIENCE_AT_STOP.toMillis());
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
