package dev.idempotency.internal.retention;

import dev.idempotency.retention.Cleanup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the cleanup on its own daemon thread after every interval, which is up to a fifth shorter or longer each time, so that
 * several instances do not run in step.
 */
public final class CleanupSchedule implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(CleanupSchedule.class);

    private static final double JITTER = 0.2;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final Cleanup cleanup;
    private final Duration interval;
    private CountDownLatch stop = new CountDownLatch(1);
    private @Nullable Thread thread;

    public CleanupSchedule(Cleanup cleanup, Duration interval) {
        this.cleanup = cleanup;
        this.interval = interval;
    }

    @Override
    public synchronized void start() {
        if (this.thread == null) {
            CountDownLatch stopped = new CountDownLatch(1);
            this.stop = stopped;
            this.thread = new Thread(() -> repeat(stopped), "idempotency-cleanup");
            this.thread.setDaemon(true);
            this.thread.start();
        }
    }

    private void repeat(CountDownLatch stopped) {
        try {
            while (!stopped.await(nextPause().toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    this.cleanup.run(stopped);
                } catch (RuntimeException | Error ex) {
                    logger.error("The cleanup failed, and is tried again", ex);
                }
            }
        } catch (InterruptedException ex) {
            logger.debug("The cleanup was interrupted and ends");
        }
    }

    Duration nextPause() {
        double factor = 1 + JITTER * ThreadLocalRandom.current().nextDouble(-1, 1);
        return Duration.ofNanos((long) (this.interval.toNanos() * factor));
    }

    /** Waits a little for the batch to end. Nothing is interrupted: some drivers would lose their database. */
    @Override
    public synchronized void stop() {
        if (this.thread != null) {
            this.stop.countDown();
            try {
                this.thread.join(STOP_TIMEOUT.toMillis());
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            this.thread = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return this.thread != null;
    }
}
