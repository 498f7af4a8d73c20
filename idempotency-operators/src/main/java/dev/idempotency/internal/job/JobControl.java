package dev.idempotency.internal.job;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Cancels a job, and limits its rate. */
public final class JobControl {

    /** Unused time beyond this is lost, so that a pause is not followed by a flood. */
    private static final long LARGEST_BURST_NANOS = Duration.ofMillis(100).toNanos();

    private final CountDownLatch cancelled = new CountDownLatch(1);
    private final long nanosPerRecord;
    private long due = System.nanoTime();

    JobControl(int recordsPerSecond) {
        this.nanosPerRecord = Duration.ofSeconds(1).toNanos() / recordsPerSecond;
    }

    public boolean isCancelled() {
        return this.cancelled.getCount() == 0;
    }

    void cancel() {
        this.cancelled.countDown();
    }

    /** Waits until that many more records may be handled, or the job is cancelled. */
    public void pace(int records) {
        long now = System.nanoTime();
        this.due = Math.max(this.due, now - LARGEST_BURST_NANOS) + records * this.nanosPerRecord;
        try {
            this.cancelled.await(this.due - now, TimeUnit.NANOSECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            cancel();
        }
    }
}
