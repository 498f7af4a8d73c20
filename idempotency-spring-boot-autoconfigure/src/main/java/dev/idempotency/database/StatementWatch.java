package dev.idempotency.database;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cancels statements that take too long, for drivers whose own time limit wakes a thread for every statement: that cost
 * more than all else a claim does besides waiting for the database.
 *
 * <p>Its thread looks from time to time at what is under way, so that a statement is cancelled a little late and never
 * early. It begins with the first statement and ends when there has been none for a while, or at once when it is closed.
 */
final class StatementWatch implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StatementWatch.class);

    private static final Duration LOOK_EVERY = Duration.ofMillis(200);
    private static final Duration REST_AFTER = Duration.ofSeconds(30);

    private final long looksBeforeRest;
    private final Map<Statement, Long> deadlines = new ConcurrentHashMap<>();
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile @Nullable Thread watcher;
    private volatile boolean closed;

    StatementWatch() {
        this(REST_AFTER);
    }

    StatementWatch(Duration restAfter) {
        this.looksBeforeRest = restAfter.dividedBy(LOOK_EVERY);
    }

    /** Watches a statement that is about to be executed, until {@link #end}. */
    void begin(Statement statement, int timeoutSeconds) {
        this.deadlines.put(statement, System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds));
        if (!this.watching.get() && this.watching.compareAndSet(false, true)) {
            Thread thread = new Thread(this::watch, "idempotency-claim-watch");
            thread.setDaemon(true);
            this.watcher = thread;
            thread.start();
        }
    }

    void end(Statement statement) {
        this.deadlines.remove(statement);
    }

    /** Whether its thread runs. */
    boolean isWatching() {
        return this.watching.get();
    }

    private void watch() {
        do {
            watchUntilIdle();
            this.watching.set(false);
            // Whoever has begun since may have seen it watching still.
        } while (!this.deadlines.isEmpty() && this.watching.compareAndSet(false, true));
    }

    private void watchUntilIdle() {
        int idle = 0;
        while (idle < this.looksBeforeRest && !(this.closed && this.deadlines.isEmpty())) {
            // Nobody has a reason to interrupt it, and what is under way must not wait for ever if somebody does.
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
            idle = this.deadlines.isEmpty() ? idle + 1 : 0;
            long now = System.nanoTime();
            this.deadlines.forEach((statement, deadline) -> {
                if (now - deadline >= 0) {
                    cancel(statement);
                }
            });
        }
    }

    private static void cancel(Statement statement) {
        try {
            statement.cancel();
        } catch (SQLException | RuntimeException ex) {
            logger.debug("A claim that takes too long could not be cancelled", ex);
        }
    }

    /** Lets its thread end as soon as nothing is under way; what begins later is watched all the same. */
    @Override
    public void close() {
        this.closed = true;
        LockSupport.unpark(this.watcher);
    }
}
