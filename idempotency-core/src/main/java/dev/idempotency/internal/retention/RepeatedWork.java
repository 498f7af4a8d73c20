package dev.idempotency.internal.retention;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** Work that is repeated on its own daemon thread, from the application's start to its end. */
public abstract class RepeatedWork implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(RepeatedWork.class);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final String threadName;
    private @Nullable Worker worker;

    protected RepeatedWork(String threadName) {
        this.threadName = threadName;
    }

    /** How long to wait before the next run, after so many since the start; {@code null} to end. */
    protected abstract @Nullable Duration pauseAfter(long runs);

    /** Does the work once; {@code stop} is counted down when it should end soon. */
    protected abstract void work(CountDownLatch stop) throws InterruptedException;

    @Override
    public final synchronized void start() {
        if (this.worker == null) {
            this.worker = new Worker();
            this.worker.start();
        }
    }

    /** Waits a little for the work to end. Nothing is interrupted: some drivers would lose their database. */
    @Override
    public final synchronized void stop() {
        if (this.worker != null) {
            this.worker.stop.countDown();
            try {
                this.worker.join(STOP_TIMEOUT.toMillis());
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            this.worker = null;
        }
    }

    @Override
    public final synchronized boolean isRunning() {
        return this.worker != null;
    }

    private final class Worker extends Thread {

        private final CountDownLatch stop = new CountDownLatch(1);

        Worker() {
            super(RepeatedWork.this.threadName);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                Duration pause = pauseAfter(0);
                for (long runs = 1;
                        pause != null && !this.stop.await(pause.toMillis(), TimeUnit.MILLISECONDS);
                        runs++) {
                    workOnce();
                    pause = pauseAfter(runs);
                }
            } catch (InterruptedException ex) {
                logger.debug("{} was interrupted and ends", getName());
            }
        }

        private void workOnce() throws InterruptedException {
            try {
                work(this.stop);
            } catch (RuntimeException | Error ex) {
                logger.error("{} failed, and is tried again", getName(), ex);
            }
        }
    }
}
