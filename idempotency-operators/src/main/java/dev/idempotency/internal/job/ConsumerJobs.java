package dev.idempotency.internal.job;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of one kind, each on its own daemon thread: one at a time per consumer in this instance of the application.
 *
 * @param <R> the type of their reports
 */
public final class ConsumerJobs<R> implements AutoCloseable {

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final String kind;
    private final int recordsPerSecond;
    private final Map<String, Job> jobs = new HashMap<>();
    private boolean closed;

    /** {@code kind} names their threads; each job handles {@code recordsPerSecond} at most. */
    public ConsumerJobs(String kind, int recordsPerSecond) {
        this.kind = kind;
        this.recordsPerSecond = recordsPerSecond;
    }

    /**
     * Starts a job for a consumer.
     *
     * @param progress reports how far it has come
     * @param work must not throw, and returns the last report. Others see that one when another job can be started
     * @return the first report, or {@code null} if a job of the consumer is running
     */
    public synchronized @Nullable R start(String consumer, Supplier<R> progress, Function<JobControl, R> work) {
        if (this.closed || isRunning(consumer)) {
            return null;
        }
        Job job = new Job(consumer, progress, work);
        this.jobs.put(consumer, job);
        job.start();
        return progress.get();
    }

    public synchronized boolean isRunning(String consumer) {
        Job job = this.jobs.get(consumer);
        return job != null && job.result == null;
    }

    /** The report of the job that runs, or ran last; {@code null} without one. */
    public synchronized @Nullable R last(String consumer) {
        Job job = this.jobs.get(consumer);
        if (job == null) {
            return null;
        }
        return (job.result != null) ? job.result : job.progress.get();
    }

    /** Has the running job of a consumer end soon; returns whether there is one. */
    public synchronized boolean cancel(String consumer) {
        Job job = this.jobs.get(consumer);
        if (job == null || job.result != null) {
            return false;
        }
        job.control.cancel();
        return true;
    }

    /** Cancels all jobs, waits a little for them to end, and starts no more. */
    @Override
    public void close() {
        List<Job> all;
        synchronized (this) {
            this.closed = true;
            all = List.copyOf(this.jobs.values());
        }
        all.forEach(job -> job.control.cancel());
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        try {
            for (Job job : all) {
                job.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Job extends Thread {

        private final JobControl control = new JobControl(ConsumerJobs.this.recordsPerSecond);
        private final Supplier<R> progress;
        private final Function<JobControl, R> work;
        private @Nullable R result;

        Job(String consumer, Supplier<R> progress, Function<JobControl, R> work) {
            super("idempotency-" + ConsumerJobs.this.kind + "-" + consumer);
            setDaemon(true);
            this.progress = progress;
            this.work = work;
        }

        @Override
        public void run() {
            R last = this.work.apply(this.control);
            synchronized (ConsumerJobs.this) {
                this.result = last;
            }
        }
    }
}
