package dev.idempotency.internal.metrics;

import dev.idempotency.store.StoreStatistics;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store how much it remembers, at most once per interval, and on another thread: readers of a gauge never wait
 * for the database. While it does not answer, nothing is known, rather than something old.
 */
public final class StoreWatch {

    private static final Logger logger = LoggerFactory.getLogger(StoreWatch.class);

    private final Supplier<StoreStatistics> store;
    private final long intervalNanos;
    private final Executor executor;
    private final LongSupplier nanoTime;
    private final AtomicBoolean asking = new AtomicBoolean();
    private boolean failing;
    private volatile Answer last;

    public StoreWatch(Supplier<StoreStatistics> store, Duration interval) {
        this(store, interval, StoreWatch::onThreadOfItsOwn, System::nanoTime);
    }

    StoreWatch(Supplier<StoreStatistics> store, Duration interval, Executor executor, LongSupplier nanoTime) {
        this.store = store;
        this.intervalNanos = interval.toNanos();
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.last = new Answer(StoreStatistics.UNKNOWN, nanoTime.getAsLong() - this.intervalNanos);
    }

    private static void onThreadOfItsOwn(Runnable task) {
        Thread thread = new Thread(task, "idempotency-store-watch");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the last answer; if it is older than the interval, the store is asked for the next time. */
    public StoreStatistics latest() {
        if (isOld() && this.asking.compareAndSet(false, true)) {
            this.executor.execute(() -> {
                try {
                    ask();
                } finally {
                    this.asking.set(false);
                }
            });
        }
        return this.last.statistics();
    }

    /** Returns the last answer, or waits for a new one if it is older than the interval. */
    public StoreStatistics current() {
        ask();
        return this.last.statistics();
    }

    private synchronized void ask() {
        if (isOld()) {
            this.last = new Answer(answer(), this.nanoTime.getAsLong());
        }
    }

    private StoreStatistics answer() {
        try {
            StoreStatistics statistics = this.store.get();
            this.failing = false;
            return statistics;
        } catch (RuntimeException ex) {
            if (!this.failing) {
                logger.warn("The store does not say how much it remembers; messages are not affected", ex);
            }
            this.failing = true;
            return StoreStatistics.UNKNOWN;
        }
    }

    private boolean isOld() {
        return this.nanoTime.getAsLong() - this.last.nanoTime() >= this.intervalNanos;
    }

    private record Answer(StoreStatistics statistics, long nanoTime) {}
}
