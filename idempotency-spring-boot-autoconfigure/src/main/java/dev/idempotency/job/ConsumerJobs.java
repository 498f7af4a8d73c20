package dev.idempotency.job;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Jobs of one kind, each on a daemon thread of its own: one at a time per consumer, within this instance of the application.
 */
public final class ConsumerJobs implements AutoCloseable {

    private static final Duration PATIENCE_AT_CLOSE = Duration.ofSeconds(10);

    private record Job(JobControl control, Thread thread) {}

    private final String kind;
    private final Map<String, Job> running = new HashMap<>();
    private boolean closed;

    /** Jobs of a kind, which names their threads. */
    public ConsumerJobs(String kind) {
        this.kind = kind;
    }

    /**
     * Starts a job for a consumer.
     *
     * @param work must not throw: nobody would hear of it
     * @param end lets others know that it has ended: whoever does can start another one
     * @return {@code false} if there is one already
     */
    public synchronized boolean start(String consumer, JobControl control, Runnable work, Runnable end) {
        if (this.closed || this.running.containsKey(consumer)) {
            return false;
        }
        Thread thread = new Thread(() -> run(consumer, work, end), "idempotency-" + this.kind + "-" + consumer);
        thread.setDaemon(true);
        this.running.put(consumer, new Job(control, thread));
        thread.start();
        return true;
    }

    private void run(String consumer, Runnable work, Runnable end) {
        try {
            work.run();
        } finally {
            synchronized (this) {
                this.running.remove(consumer);
                end.run();
            }
        }
    }

    /** Has a consumer's job end soon; returns whether there is one. */
    public synchronized boolean cancel(String consumer) {
        Job job = this.running.get(consumer);
        if (job != null) {
            job.control().cancel();
        }
        return job != null;
    }

    /** Cancels all jobs, waits a little for them to end, and starts no more. */
    @Override
    public void close() {
        List<Job> jobs;
        synchronized (this) {
            this.closed = true;
            jobs = List.copyOf(this.running.values());
        }
        jobs.forEach(job -> job.control().cancel());
        long deadline = System.nanoTime() + PATIENCE_AT_CLOSE.toNanos();
        for (Job job : jobs) {
            try {
                job.thread()
                        .join(Math.max(
                                1,
                                Duration.ofNanos(deadline - System.nanoTime()).toMillis()));
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
