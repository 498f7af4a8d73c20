package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.WriteProbe;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Marks a message in the inbox as forgotten on purpose, so that it may be replayed: what has merely expired stays marked
 * as processed.
 */
final class ForgottenMarker {

    private static final String MARK = """
            update %s
            set status = 'forgotten', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'processed'
            """;

    private final IdempotencyDatabase database;
    private final String mark;

    ForgottenMarker(IdempotencyDatabase database) {
        this.database = database;
        this.mark = MARK.formatted(database.inboxTable(), database.dialect().now());
    }

    /**
     * Marks a message in the current transaction, if it is in the inbox. Who has no inbox need not have its table, nor a
     * right to it, and must not lose the transaction for that.
     */
    void mark(MessageId id, JdbcTemplate jdbc) {
        this.database.tryInSavepoint(
                () -> jdbc.update(this.mark, id.consumer(), id.value()),
                ex -> ex instanceof BadSqlGrammarException || WriteProbe.denial(ex) != null);
    }
}
