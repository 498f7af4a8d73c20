package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.StatementTrial;
import dev.idempotency.database.Tables;
import java.sql.Savepoint;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The mark of a message in the inbox that it was forgotten on purpose, so that it may be replayed: what has merely expired
 * stays marked as processed.
 */
final class ForgottenMark {

    private static final String MARK = """
            update %s
            set status = 'forgotten', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'processed'
            """;

    private final String mark;

    ForgottenMark(Dialect dialect, Tables tables) {
        this.mark = MARK.formatted(tables.inbox(dialect), dialect.now());
    }

    /**
     * Marks a message in the current transaction, if it is in the inbox. Who has no inbox need not have its table, nor a
     * right to it, and must not lose the transaction for that.
     */
    void set(MessageId id, JdbcTemplate jdbc) {
        ConnectionCallback<@Nullable Object> marking = connection -> {
            Savepoint before = connection.getAutoCommit() ? null : connection.setSavepoint();
            try {
                return jdbc.update(this.mark, id.consumer(), id.value());
            } catch (DataAccessException ex) {
                if (!(ex instanceof BadSqlGrammarException) && StatementTrial.denial(ex) == null) {
                    throw ex;
                }
                if (before != null) {
                    connection.rollback(before);
                }
                return null;
            }
        };
        jdbc.execute(marking);
    }
}
