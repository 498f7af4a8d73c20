package dev.idempotency.result;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of results, on the connection of the current transaction, which holds the claim of the id. */
final class ResultTable {

    private static final String INSERT =
            "insert into %s (consumer_id, message_id, result_type, result) values (?, ?, ?, ?)";

    private static final String UPDATE = """
            update %s
            set result_type = ?, result = ?, processed_at = %s
            where consumer_id = ? and message_id = ?
            """;

    private static final String FIND = "select result_type, result from %s where consumer_id = ? and message_id = ?";

    /**
     * A row of the table.
     *
     * @param type the name of the result's type
     * @param text the result as it was written
     */
    record Row(String type, String text) {}

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final @Nullable String replacement;
    private final String insert;
    private final String update;
    private final String find;

    ResultTable(IdempotencyDatabase database) {
        String table = database.resultTable();
        this.database = database;
        this.jdbc = database.jdbc();
        this.replacement = database.dialect().resultReplacementIn(table);
        this.insert = INSERT.formatted(table);
        this.update = UPDATE.formatted(table, database.dialect().now());
        this.find = FIND.formatted(table);
    }

    /** Writes a result, in place of one that the same id may have left before it was forgotten. */
    void write(MessageId id, Row row) {
        if (this.replacement != null) {
            this.jdbc.update(this.replacement, id.consumer(), id.value(), row.type(), row.text());
            return;
        }
        // Inserted first: to update a row that is not there locks the gap where others insert, in some databases.
        boolean inserted = this.database.tryInSavepoint(
                () -> this.jdbc.update(this.insert, id.consumer(), id.value(), row.type(), row.text()),
                DuplicateKeyException.class::isInstance);
        if (!inserted) {
            this.jdbc.update(this.update, row.type(), row.text(), id.consumer(), id.value());
        }
    }

    /** The result of an id, or {@code null} if there is none. */
    @Nullable
    Row find(MessageId id) {
        Row found = query(this.find, id);
        // A transaction that has read before may not see what was committed since; a locking read does.
        return (found != null) ? found : query(this.find + " for update", id);
    }

    private @Nullable Row query(String sql, MessageId id) {
        List<Row> rows = this.jdbc.query(
                sql, (row, number) -> new Row(row.getString(1), row.getString(2)), id.consumer(), id.value());
        return rows.isEmpty() ? null : rows.get(0);
    }
}
