package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.database.ClaimStatement;
import dev.idempotency.database.IdempotencyDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The current transaction, as claims need it: they are refused without one, wait in it for no longer than they may, and
 * can ask whether it still stands.
 */
final class ClaimTransaction {

    private static final int CLOCK_TOLERANCE_MILLIS = 100;

    /** Classes of SQL states: as the standard has it, of MariaDB and MySQL, and of a transaction that was aborted. */
    private static final Set<String> UNKNOWN_SAVEPOINT = Set.of("3B", "42", "25");

    private final IdempotencyDatabase database;
    private final Duration claimTimeout;
    private final SQLExceptionTranslator exceptionTranslator;
    private final JdbcTemplate lookUps;

    ClaimTransaction(IdempotencyDatabase database, Duration claimTimeout) {
        this.database = database;
        this.claimTimeout = claimTimeout;
        this.exceptionTranslator = database.jdbc().getExceptionTranslator();
        this.lookUps = database.jdbc((int) Math.min(claimSeconds(), Integer.MAX_VALUE));
    }

    /** The ids of those claims that the statement says were free. */
    Set<MessageId> claim(ClaimStatement statement, List<Claim> claims) {
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
    <T> T execute(LimitedStatement<T> statement, Supplier<String> claimed) {
        ConnectionHolder holder = holder();
        int limit = timeoutSeconds(holder);
        long start = System.nanoTime();
        try {
            requireTransaction(holder.getConnection());
            return statement.execute(holder.getConnection(), limit);
        } catch (SQLException ex) {
            throw (ex instanceof SQLTimeoutException || this.database.dialect().isTimeout(ex))
                    ? timeout(ex, claimed.get(), limit, Duration.ofNanos(System.nanoTime() - start))
                    : translate(ex, "claim a message");
        }
    }

    /** Returns a template for queries in it that may take as long as a claim. */
    JdbcTemplate lookUps() {
        require();
        return this.lookUps;
    }

    /** Sees that there is one, where nothing is claimed in it. */
    void require() {
        try {
            requireTransaction(holder().getConnection());
        } catch (SQLException ex) {
            throw translate(ex, "look at the listener's transaction");
        }
    }

    private static void requireTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            throw notInTransaction("its connection commits by itself");
        }
    }

    /** A statement that may take so many seconds. */
    @FunctionalInterface
    interface LimitedStatement<T> {

        T execute(Connection connection, int timeoutSeconds) throws SQLException;
    }

    /** Claims as an exception names them, by the first one. */
    static String describe(MessageId first, RecordCoordinates coordinates, int count) {
        return "message %s (%s)%s".formatted(first, coordinates, (count > 1) ? " and " + (count - 1) + " more" : "");
    }

    /** Whether claims are still part of it, or {@code null} if only the database knows. */
    @Nullable
    Boolean isIntact() {
        try {
            return this.database.dialect().isTransactionIntact(holder().getConnection());
        } catch (SQLException ex) {
            throw translate(ex, "look whether a message is still claimed");
        }
    }

    /** Whether the database has given it up after an error, or {@code null} if only the database knows. */
    @Nullable
    Boolean isAborted() {
        try {
            return this.database.dialect().isTransactionAborted(holder().getConnection());
        } catch (SQLException ex) {
            throw translate(ex, "look whether a transaction can still be committed");
        }
    }

    /** Watches it from now on. Asked once, before the commit: whether it still is the same transaction. */
    BooleanSupplier watch() {
        Boolean open = isIntact();
        if (open != null) {
            // Nothing may have been done in it yet.
            return () -> open ? Boolean.TRUE.equals(isIntact()) : Boolean.FALSE.equals(isAborted());
        }
        String query = this.database.dialect().transactionIdQuery();
        if (query != null) {
            String id = this.database.jdbc().queryForObject(query, String.class);
            return () -> id == null || id.equals(this.database.jdbc().queryForObject(query, String.class));
        }
        try {
            Savepoint savepoint = holder().getConnection().setSavepoint();
            return () -> release(savepoint);
        } catch (SQLException ex) {
            throw translate(ex, "set a savepoint");
        }
    }

    /** A savepoint ends with its transaction. */
    private boolean release(Savepoint savepoint) {
        try {
            holder().getConnection().releaseSavepoint(savepoint);
            return true;
        } catch (SQLException ex) {
            String state = String.valueOf(ex.getSQLState());
            if (UNKNOWN_SAVEPOINT.stream().anyMatch(state::startsWith)) {
                return false;
            }
            throw translate(ex, "release a savepoint");
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

    private static UnprotectedListenerException notInTransaction(String why) {
        return new UnprotectedListenerException("The claim would not be part of the listener's transaction: " + why
                + ". Name a transaction manager that manages the store's DataSource in"
                + " @IdempotentListener(transactionManager = …).");
    }

    /** Returns whole seconds, as JDBC needs, and at most the time that the transaction has left. */
    private int timeoutSeconds(ConnectionHolder holder) {
        long seconds = claimSeconds();
        if (holder.hasTimeout()) {
            seconds = Math.min(seconds, Math.max(1, holder.getTimeToLiveInSeconds()));
        }
        return (int) Math.min(seconds, Integer.MAX_VALUE);
    }

    private long claimSeconds() {
        return Math.max(1, this.claimTimeout.plusMillis(999).toSeconds());
    }

    private ClaimTimeoutException timeout(SQLException ex, String claimed, int limit, Duration waited) {
        return new ClaimTimeoutException(
                ("The claim of %s waited %d ms for another transaction that holds it, or its table. Nothing"
                                + " was written; the message can be retried. %s")
                        .formatted(claimed, waited.toMillis(), whoseLimit(limit, waited)),
                ex);
    }

    private String whoseLimit(int limit, Duration waited) {
        if (waited.plusMillis(CLOCK_TOLERANCE_MILLIS).toSeconds() < limit) {
            return "It was ended before idempotency.claim.timeout (%s), by a limit of the database's own or on request: see to its"
                            .formatted(this.claimTimeout)
                    + " lock and statement timeouts if listeners take that long.";
        }
        return (limit < claimSeconds())
                ? "Its transaction has no more time than that: raise @Transactional(timeout = …) if listeners take that long."
                : "Raise idempotency.claim.timeout (%s) if listeners take that long.".formatted(this.claimTimeout);
    }

    private DataAccessException translate(SQLException ex, String task) {
        DataAccessException translated = this.exceptionTranslator.translate(task, null, ex);
        return (translated != null) ? translated : new UncategorizedSQLException(task, null, ex);
    }
}
