package dev.idempotency.internal.database;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Cancels statements that take too long, as {@code Statement.setQueryTimeout} does, but without waking a thread for each: a
 * timer's thread sleeps until its earliest task, and the tick here is always earlier than the end of a statement.
 */
final class StatementTimer {

    private static final Logger logger = LoggerFactory.getLogger(StatementTimer.class);

    private static final long TICK_MILLIS = 500;

    private static final AtomicBoolean ticking = new AtomicBoolean();

    private static final ScheduledThreadPoolExecutor timer = newTimer();

    private static volatile boolean used;

    private StatementTimer() {}

    /** A statement that may have to wait. */
    @FunctionalInterface
    interface Execution<T> {

        T execute() throws SQLException;
    }

    /** Its thread ends when nothing has been executed for a while. */
    private static ScheduledThreadPoolExecutor newTimer() {
        CustomizableThreadFactory threads = new CustomizableThreadFactory("idempotency-claim-timeout-");
        threads.setDaemon(true);
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, threads);
        executor.setRemoveOnCancelPolicy(true);
        executor.setKeepAliveTime(10, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Executes a statement, and cancels it after so many seconds, at least 1. */
    static <T> T limit(Statement statement, int seconds, Execution<T> execution) throws SQLException {
        used = true;
        if (!ticking.get() && ticking.compareAndSet(false, true)) {
            timer.schedule(StatementTimer::tick, TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
        Future<?> end = timer.schedule(() -> cancel(statement), seconds, TimeUnit.SECONDS);
        try {
            return execution.execute();
        } finally {
            end.cancel(false);
        }
    }

    private static void tick() {
        if (used) {
            used = false;
            timer.schedule(StatementTimer::tick, TICK_MILLIS, TimeUnit.MILLISECONDS);
        } else {
            ticking.set(false);
        }
    }

    /** The driver does nothing if the statement has ended meanwhile. */
    private static void cancel(Statement statement) {
        try {
            statement.cancel();
        } catch (SQLException ex) {
            logger.debug("Could not cancel a claim", ex);
        }
    }
}
