package dev.idempotency.job;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What a job asks while it runs: whether it has been cancelled, and when it may go on. */
public final class JobControl {

    private static final double NANOS_PER_SECOND = Duration.ofSeconds(1).toNanos();

    /** What was not used for longer than this is lost, so that a pause is not followed by a flood. */
    private static final long LARGEST_BURST_NANOS = Duration.ofMillis(100).toNanos();

    private final CountDownLatch cancelled = new CountDownLatch(1);
    private final long nanosPerRecord;
    private long due = System.nanoTime();

    /** A job that handles so many records per second at most. */
    public JobControl(int recordsPerSecond) {
        if (recordsPerSecond < 1) {
            throw new IllegalArgumentException(
                    "A rate must be at least 1 record per second, but is " + recordsPerSecond);
        }
        this.nanosPerRecord = (long) (NANOS_PER_SECOND / recordsPerSecond);
    }

    public boolean isCancelled() {
        return this.cancelled.getCount() == 0;
    }

    /** Has the job end as soon as it asks. */
    public void cancel() {
        this.cancelled.countDown();
    }

    /** Waits until that many more records may be handled, or the job is cancelled. */
    public void pace(int records) {
        long now = System.nanoTime();
        this.due = Math.max(this.due, now - LARGEST_BURST_NANOS) + records * this.nanosPerRecord;
        if (this.due > now) {
            try {
                this.cancelled.await(this.due - now, TimeUnit.NANOSECONDS);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                cancel();
            }
        }
    }
}
