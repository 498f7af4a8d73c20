package dev.idempotency.internal.store;

import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.database.ClaimStatement;
import dev.idempotency.internal.database.Dialect.TransactionCheck;
import dev.idempotency.internal.database.IdempotencyDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The current transaction, as claims need it: they are refused without one, and limited in how long they wait. */
public final class ClaimTransaction {

    private final IdempotencyDatabase database;
    private final Duration claimTimeout;
    private final SQLExceptionTranslator exceptionTranslator;
    private final JdbcTemplate lookUps;

    public ClaimTransaction(IdempotencyDatabase database, Duration claimTimeout) {
        this.database = database;
        this.claimTimeout = claimTimeout;
        this.exceptionTranslator = database.jdbc().getExceptionTranslator();
        this.lookUps = database.jdbc(claimSeconds());
    }

    /** A statement that may take so many seconds. */
    @FunctionalInterface
    public interface LimitedStatement<T> {

        T execute(Connection connection, int timeoutSeconds) throws SQLException;
    }

    /** A question to the connection. */
    @FunctionalInterface
    public interface Look<T extends @Nullable Object> {

        T at(Connection connection) throws SQLException;
    }

    /** The ids of those claims that the statement says were free. */
    public Set<MessageId> claim(ClaimStatement statement, List<Claim> claims) {
        Claim first = claims.get(0);
        return execute(
                (connection, limit) -> statement.execute(connection, claims, limit),
                () -> describe(first.id(), first.coordinates(), claims.size()));
    }

    /**
     * Executes a statement that may have to wait for another transaction.
     *
     * @param claimed describes the claim in the exception if that takes too long
     */
    public <T> T execute(LimitedStatement<T> statement, Supplier<String> claimed) {
        long start = System.nanoTime();
        return execute(
                statement,
                "claim a message",
                ex -> new ClaimTimeoutException(
                        ("The claim of %s waited %d ms for another transaction that holds it, or its table. Nothing was"
                                        + " written; the message can be retried. If listeners take that long, raise what"
                                        + " ended the wait: idempotency.claim.timeout (%s), @Transactional(timeout = …), or"
                                        + " the database's lock and statement timeouts.")
                                .formatted(
                                        claimed.get(),
                                        Duration.ofNanos(System.nanoTime() - start)
                                                .toMillis(),
                                        this.claimTimeout),
                        ex));
    }

    /** Executes a statement of a task that may have to wait, and throws another exception if that takes too long. */
    public <T> T execute(LimitedStatement<T> statement, String task, Function<SQLException, RuntimeException> tooLong) {
        ConnectionHolder holder = holder();
        int limit = holder.hasTimeout()
                ? Math.min(claimSeconds(), Math.max(1, holder.getTimeToLiveInSeconds()))
                : claimSeconds();
        try {
            requireTransaction(holder.getConnection());
            return statement.execute(holder.getConnection(), limit);
        } catch (SQLException ex) {
            boolean timeout =
                    ex instanceof SQLTimeoutException || this.database.dialect().isTimeout(ex);
            throw timeout ? tooLong.apply(ex) : translate(ex, task);
        }
    }

    /** Returns a template for queries that may take as long as a claim. */
    public JdbcTemplate lookUps() {
        return this.lookUps;
    }

    /** Sees that there is one, where nothing is claimed in it. */
    public void require() {
        ask(connection -> {
            requireTransaction(connection);
            return true;
        });
    }

    private static void requireTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            throw notInTransaction("its connection commits by itself");
        }
    }

    /** Claims as an exception names them, by the first one. */
    public static String describe(MessageId first, RecordCoordinates coordinates, int count) {
        return "message %s (%s)%s".formatted(first, coordinates, (count > 1) ? " and " + (count - 1) + " more" : "");
    }

    /** Watches it from now on. Asked once, before the commit: whether it still is the same transaction. */
    public BooleanSupplier watch() {
        TransactionCheck check = ask(this.database.dialect()::watch);
        return () -> ask(check::isIntact);
    }

    /** Asks its connection something. */
    public <T extends @Nullable Object> T ask(Look<T> look) {
        try {
            return look.at(holder().getConnection());
        } catch (SQLException ex) {
            throw translate(ex, "look at the listener's transaction");
        }
    }

    private ConnectionHolder holder() {
        if (this.database.isInTransaction()
                && TransactionSynchronizationManager.getResource(this.database.dataSource())
                        instanceof ConnectionHolder holder) {
            return holder;
        }
        throw notInTransaction("no transaction of the store's DataSource is active");
    }

    private static UnprotectedCallException notInTransaction(String why) {
        return new UnprotectedCallException("The claim would not be part of the listener's transaction: " + why
                + ". Name a transaction manager that manages the store's DataSource in"
                + " @IdempotentListener(transactionManager = …).");
    }

    /** Returns whole seconds, as JDBC needs. */
    private int claimSeconds() {
        return (int) Math.min(Math.max(1, this.claimTimeout.plusMillis(999).toSeconds()), Integer.MAX_VALUE);
    }

    private DataAccessException translate(SQLException ex, String task) {
        DataAccessException translated = this.exceptionTranslator.translate(task, null, ex);
        return (translated != null) ? translated : new UncategorizedSQLException(task, null, ex);
    }
}
