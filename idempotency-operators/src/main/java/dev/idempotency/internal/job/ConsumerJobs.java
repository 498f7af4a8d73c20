package dev.idempotency.internal.job;

import dev.idempotency.OperatorActionException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of one kind, each on its own daemon thread: one at a time per consumer in this instance of the application.
 */
public final class ConsumerJobs<R> implements AutoCloseable {

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final String kind;
    private final int recordsPerSecond;
    private final Map<String, Job<R>> jobs = new ConcurrentHashMap<>();
    private volatile boolean closed;

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
     * @return the first report
     * @throws OperatorActionException if a job of the consumer is running
     */
    public synchronized R start(String consumer, Supplier<R> progress, Function<Control, R> work) {
        requireNone(consumer);
        Control control = new Control(this.recordsPerSecond);
        CompletableFuture<R> result = CompletableFuture.supplyAsync(() -> work.apply(control), task -> {
            Thread thread = new Thread(task, "idempotency-" + this.kind + "-" + consumer);
            thread.setDaemon(true);
            thread.start();
        });
        this.jobs.put(consumer, new Job<>(progress, control, result));
        return progress.get();
    }

    /** Throws {@link OperatorActionException} if a job of the consumer is running. */
    public void requireNone(String consumer) {
        Job<R> job = this.jobs.get(consumer);
        if (this.closed || (job != null && !job.result().isDone())) {
            throw new OperatorActionException(
                    "A %s of consumer '%s' is running already. Wait until it is done, or cancel it."
                            .formatted(this.kind, consumer),
                    null);
        }
    }

    /** The report of the job that runs, or ran last; {@code null} without one. */
    public @Nullable R last(String consumer) {
        Job<R> job = this.jobs.get(consumer);
        if (job == null) {
            return null;
        }
        return job.result().isDone() ? job.result().join() : job.progress().get();
    }

    /** Has the running job of a consumer end soon; returns whether there is one. */
    public boolean cancel(String consumer) {
        Job<R> job = this.jobs.get(consumer);
        if (job == null || job.result().isDone()) {
            return false;
        }
        job.control().cancel();
        return true;
    }

    /** Cancels all jobs, waits a little for them to end, and starts no more. */
    @Override
    public synchronized void close() {
        this.closed = true;
        this.jobs.keySet().forEach(this::cancel);
        CompletableFuture<?>[] results =
                this.jobs.values().stream().map(Job::result).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(results).get(CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException ex) {
            // They end with the process.
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private record Job<R>(Supplier<R> progress, Control control, CompletableFuture<R> result) {}

    /** Cancels a job, and limits its rate. */
    public static final class Control {

        /** Unused time beyond this is lost, so that a pause is not followed by a flood. */
        private static final long LARGEST_BURST_NANOS = Duration.ofMillis(100).toNanos();

        private final CountDownLatch cancelled = new CountDownLatch(1);
        private final long nanosPerRecord;
        private long due = System.nanoTime();

        Control(int recordsPerSecond) {
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
}
