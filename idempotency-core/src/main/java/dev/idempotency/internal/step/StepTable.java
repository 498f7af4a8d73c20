package dev.idempotency.internal.step;

import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/** The table of steps. Each call is a transaction of its own, on its own connection, whatever becomes of the listener's. */
public final class StepTable {

    /** Query timeout, including lock waits. */
    private static final int TIMEOUT_SECONDS = 10;

    private static final String STARTED = "started";
    private static final String DONE = "done";

    private static final String OF_STEP = " where consumer_id = ? and message_id = ? and step_name = ?";

    private static final String FIND = """
            select step_name, status, result, %s
            from %s
            where consumer_id = ? and message_id = ?
            """;

    private static final String INSERT = """
            insert into %s (consumer_id, message_id, step_name, status, result)
            values (?, ?, ?, ?, ?)
            """;

    /** So that it is replayed with those that have failed. */
    private static final String MARK_SETTLED = """
            update %s
            set status = 'failed', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'unknown'
            """;

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String find;
    private final String insert;
    private final String complete;
    private final String withdraw;
    private final String markSettled;

    public StepTable(IdempotencyDatabase database) {
        Dialect dialect = database.dialect();
        String table = database.stepTable();
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        this.find = FIND.formatted(dialect.secondsOf("processed_at"), table);
        this.insert = INSERT.formatted(table);
        this.complete = "update " + table + " set status = 'done'" + OF_STEP + " and status = 'started'";
        this.withdraw = "delete from " + table + OF_STEP + " and status = 'started'";
        this.markSettled = MARK_SETTLED.formatted(database.inboxTable(), dialect.now());
    }

    /**
     * A step of a message.
     *
     * @param status {@code done}, or {@code started} for one of which no outcome is known
     * @param result its result as JSON, if it has one
     * @param at when it was begun, if it must not be repeated, or else done; {@code null} if it is not in the table yet
     */
    public record Step(
            String name,
            String status,
            @Nullable String result,
            @Nullable Instant at) {

        static Step started(String name) {
            return new Step(name, STARTED, null, null);
        }

        static Step done(String name, String result) {
            return new Step(name, DONE, result, null);
        }

        public boolean isDone() {
            return this.status.equals(DONE);
        }
    }

    @Nullable
    Step find(MessageId id, String name) {
        List<Step> found = attempt("look up", id, name, () -> query(this.find + " and step_name = ?", id, name));
        return found.isEmpty() ? null : found.get(0);
    }

    /** The steps of a message, by name. */
    public List<Step> find(MessageId id) {
        return query(this.find + " order by step_name", id, null);
    }

    private List<Step> query(String sql, MessageId id, @Nullable String name) {
        Object[] parameters = (name != null)
                ? new Object[] {id.consumer(), id.value(), name}
                : new Object[] {id.consumer(), id.value()};
        return this.transaction.execute(status -> this.jdbc.query(sql, (row, number) -> read(row), parameters));
    }

    private static Step read(ResultSet row) throws SQLException {
        return new Step(
                row.getString(1), row.getString(2), row.getString(3), EpochSeconds.toInstant(row.getBigDecimal(4)));
    }

    /** Inserts a step, unless it is there. */
    boolean insert(MessageId id, Step step) {
        return attempt("record", id, step.name(), () -> {
            try {
                this.transaction.executeWithoutResult(status -> this.jdbc.update(
                        this.insert, id.consumer(), id.value(), step.name(), step.status(), step.result()));
                return true;
            } catch (DuplicateKeyException ex) {
                // Its own transaction, which has ended.
                return false;
            }
        });
    }

    /** Records that a step that was begun has happened. */
    void complete(MessageId id, String name) {
        attempt(
                "record the outcome of",
                id,
                name,
                () -> this.transaction.execute(
                        status -> this.jdbc.update(this.complete, id.consumer(), id.value(), name)));
    }

    /** Records whether a step that was begun has happened; returns {@code false} if there is none of unknown outcome. */
    public boolean settle(MessageId id, String name, boolean done) {
        String sql = done ? this.complete : this.withdraw;
        return this.transaction.execute(status -> {
            boolean settled = this.jdbc.update(sql, id.consumer(), id.value(), name) > 0;
            if (settled) {
                this.jdbc.update(this.markSettled, id.consumer(), id.value());
            }
            return settled;
        });
    }

    private static <T> T attempt(String what, MessageId id, String name, Supplier<T> work) {
        return StoreExceptionTranslator.attempt(() -> "%s step '%s' of %s".formatted(what, name, id), work);
    }
}
