package dev.idempotency.internal.database;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;

/** How long a claim may still take that needs several statements: each may take what those before it have left. */
final class ClaimDeadline {

    private final long end;

    ClaimDeadline(int seconds) {
        this.end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Whole seconds, as JDBC knows no less. */
    int secondsLeft() throws SQLTimeoutException {
        long left = this.end - System.nanoTime();
        if (left <= 0) {
            throw new SQLTimeoutException("The time that the claim may take is over");
        }
        return (int) (TimeUnit.NANOSECONDS.toSeconds(left - 1) + 1);
    }

    /** Limits a statement that is about to be executed. */
    void limit(Statement statement) throws SQLException {
        int seconds = secondsLeft();
        if (statement.getQueryTimeout() != seconds) {
            statement.setQueryTimeout(seconds);
        }
    }
}
