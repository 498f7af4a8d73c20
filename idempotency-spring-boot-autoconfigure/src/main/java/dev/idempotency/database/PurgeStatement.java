package dev.idempotency.database;

import java.sql.Connection;
import java.sql.SQLException;

/** Deletes some messages of one consumer, oldest first. */
@FunctionalInterface
public interface PurgeStatement {

    /**
     * Never waits for another transaction: rows that one holds are left for the next time.
     *
     * @param connection a connection in a transaction of its own
     * @param request which messages, and how many at most
     * @param timeoutSeconds how long a statement may take, at least 1
     * @return what was deleted
     */
    Purged execute(Connection connection, PurgeRequest request, int timeoutSeconds) throws SQLException;
}
