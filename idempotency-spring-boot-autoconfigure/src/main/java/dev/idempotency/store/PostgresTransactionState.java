package dev.idempotency.store;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.springframework.util.ClassUtils;

/**
 * What PostgreSQL's driver knows of a transaction without asking the server. It takes a commit for successful though the
 * server, after an error, has answered with a rollback.
 */
final class PostgresTransactionState {

    private static final boolean DRIVER_PRESENT =
            ClassUtils.isPresent("org.postgresql.core.BaseConnection", PostgresTransactionState.class.getClassLoader());

    private PostgresTransactionState() {}

    /** Whether the transaction can be committed, or {@code null} if the driver is another one. */
    static @Nullable Boolean isOpen(Connection connection) throws SQLException {
        return (DRIVER_PRESENT && connection.isWrapperFor(BaseConnection.class))
                ? connection.unwrap(BaseConnection.class).getTransactionState() == TransactionState.OPEN
                : null;
    }
}
