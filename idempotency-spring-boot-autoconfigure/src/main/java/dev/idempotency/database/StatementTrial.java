package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Tries what the library does with its tables, for a message that there is not, in a transaction of its own that is
 * rolled back. That tells more than tables that can be read: whether the user may write them, and the server lets him.
 */
public final class StatementTrial {

    /** Nobody who asks is to wait for longer, be it for a table that somebody has locked. */
    static final int TIMEOUT_SECONDS = 3;

    private static final String CONSUMER = "idempotency/trial";

    private static final String LOCK = "select message_id from %s where consumer_id = ? and message_id = ? for update";
    private static final String DELETE = "delete from %s where consumer_id = ? and message_id = ?";

    private static final String PERMISSION_DENIED = "42501";

    /** MySQL and MariaDB: of a database, a table, a column, by a missing privilege; H2. */
    private static final Set<Integer> PERMISSION_DENIED_CODES = Set.of(1044, 1142, 1143, 1227, 90096);

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final ClaimStatement claim;
    private final String processed;
    private final String inbox;
    private final String inboxCompletion;

    public StatementTrial(DataSource dataSource, Dialect dialect, Tables tables) {
        this.processed = tables.processed(dialect);
        this.inbox = tables.inbox(dialect);
        this.claim = dialect.claimIn(this.processed);
        this.inboxCompletion = dialect.inboxCompletionIn(this.inbox);
        this.jdbc = new JdbcTemplate(dataSource);
        this.jdbc.setQueryTimeout(TIMEOUT_SECONDS);
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        this.transaction.setTimeout(TIMEOUT_SECONDS);
    }

    /** Claims a message and looks it up; fails as that does. */
    public void claims() {
        inTransaction(id -> {});
    }

    /** The same, and what the cleanup does, and the inbox. */
    void all(boolean cleanup, boolean withInbox) {
        inTransaction(id -> {
            if (withInbox) {
                this.jdbc.update(this.inboxCompletion, statement -> bind(statement, id));
                lock(this.inbox, id);
            }
            if (cleanup) {
                forget(this.processed, id);
            }
            if (cleanup && withInbox) {
                forget(this.inbox, id);
            }
        });
    }

    private interface Work {

        void with(MessageId id);
    }

    private void inTransaction(Work work) {
        // Not the same for everyone: two who try it at once would wait for each other.
        MessageId id = new MessageId(CONSUMER, UUID.randomUUID().toString());
        Claim claimed = new Claim(id, new RecordCoordinates("none", 0, 0));
        this.transaction.executeWithoutResult(status -> {
            status.setRollbackOnly();
            ConnectionCallback<@Nullable Object> claiming =
                    (Connection connection) -> this.claim.execute(connection, List.of(claimed), TIMEOUT_SECONDS);
            this.jdbc.execute(claiming);
            this.jdbc.query(
                    "select message_id from " + this.processed + " where consumer_id = ? and message_id = ?",
                    row -> {},
                    id.consumer(),
                    id.value());
            work.with(id);
        });
    }

    private void forget(String table, MessageId id) {
        lock(table, id);
        this.jdbc.update(DELETE.formatted(table), id.consumer(), id.value());
    }

    private void lock(String table, MessageId id) {
        this.jdbc.query(LOCK.formatted(table), row -> {}, id.consumer(), id.value());
    }

    private static void bind(PreparedStatement statement, MessageId id) throws SQLException {
        statement.setString(1, id.consumer());
        statement.setString(2, id.value());
        statement.setString(3, null);
        statement.setString(4, "none");
        statement.setInt(5, 0);
        statement.setLong(6, 0);
        statement.setBytes(7, null);
        statement.setString(8, "");
        statement.setBytes(9, null);
        statement.setNull(10, Types.INTEGER);
        statement.setString(11, null);
    }

    /** What the database says if it denies its user something, or {@code null} if it failed for another reason. */
    public static @Nullable String denial(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof SQLException)) {
            cause = cause.getCause();
        }
        return (cause instanceof SQLException sql
                        && (PERMISSION_DENIED.equals(sql.getSQLState())
                                || PERMISSION_DENIED_CODES.contains(sql.getErrorCode())))
                ? sql.getMessage()
                : null;
    }
}
