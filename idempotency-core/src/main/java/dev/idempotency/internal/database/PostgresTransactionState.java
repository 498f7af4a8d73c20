package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;
import org.springframework.util.ClassUtils;

/**
 * The state of a transaction as PostgreSQL's driver knows it. The driver takes a commit for successful though the
 * server, after an error, has answered with a rollback.
 */
public final class PostgresTransactionState {

    private static final boolean DRIVER_PRESENT =
            ClassUtils.isPresent("org.postgresql.core.BaseConnection", PostgresTransactionState.class.getClassLoader());

    private PostgresTransactionState() {}

    /** Whether the driver is PostgreSQL's own. */
    static boolean isKnown(Connection connection) throws SQLException {
        return DRIVER_PRESENT && connection.isWrapperFor(BaseConnection.class);
    }

    /** Whether a statement has begun the transaction, and none has failed in it. */
    static boolean isOpen(Connection connection) throws SQLException {
        return stateOf(connection) == TransactionState.OPEN;
    }

    /** Whether the transaction has failed, so that it can only be rolled back. */
    public static boolean isAborted(Connection connection) throws SQLException {
        return stateOf(connection) == TransactionState.FAILED;
    }

    /** Whether a transaction stays aborted after an error: not if the driver sets savepoints, or is another one. */
    public static boolean remembersFailures(Connection connection) throws SQLException {
        return isKnown(connection) && connection.unwrap(BaseConnection.class).getAutosave() != AutoSave.ALWAYS;
    }

    private static TransactionState stateOf(Connection connection) throws SQLException {
        return connection.unwrap(BaseConnection.class).getTransactionState();
    }
}
