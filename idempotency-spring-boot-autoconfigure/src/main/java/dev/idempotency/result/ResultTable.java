package dev.idempotency.result;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The table of results, on the connection of the current transaction, which holds the claim of the id.
 *
 * <p>A result has the time of its claim. One that an earlier claim of the same id has left, as that was forgotten or has
 * expired, has another time, and is not given to anybody.
 */
final class ResultTable {

    private static final String INSERT = """
            insert into %s (result_type, result, consumer_id, message_id, processed_at)
            values (?, ?, ?, ?, (select processed_at from %s where consumer_id = ? and message_id = ?))
            """;

    private static final String UPDATE = """
            update %1$s
            set result_type = ?, result = ?, processed_at = (
                select processed_at from %2$s as claim
                where claim.consumer_id = %1$s.consumer_id and claim.message_id = %1$s.message_id
            )
            where consumer_id = ? and message_id = ?
            """;

    /** By the claim, so that one without a result is found as well. */
    private static final String FIND = """
            select kept.result_type, kept.result
            from %s as claim
            %s join %s as kept on kept.consumer_id = claim.consumer_id and kept.message_id = claim.message_id
                and kept.processed_at = claim.processed_at
            where claim.consumer_id = ? and claim.message_id = ?
            """;

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
    private final String findLatest;

    ResultTable(IdempotencyDatabase database) {
        String table = database.resultTable();
        String processed = database.processedTable();
        this.database = database;
        this.jdbc = database.jdbc();
        this.replacement = database.dialect().resultReplacementIn(table, processed);
        this.insert = INSERT.formatted(table, processed);
        this.update = UPDATE.formatted(table, processed);
        this.find = FIND.formatted(processed, "left", table);
        this.findLatest = FIND.formatted(processed, "inner", table) + "for update";
    }

    /** Writes a result, in place of one that an earlier claim of the same id may have left. */
    void write(MessageId id, Row row) {
        if (this.replacement != null) {
            write(this.replacement, id, row);
            return;
        }
        // Inserted first: to update a row that is not there locks the gap where others insert, in some databases.
        boolean inserted = this.database.tryInSavepoint(
                () -> this.jdbc.update(
                        this.insert, row.type(), row.text(), id.consumer(), id.value(), id.consumer(), id.value()),
                DuplicateKeyException.class::isInstance);
        if (!inserted) {
            write(this.update, id, row);
        }
    }

    private void write(String sql, MessageId id, Row row) {
        this.jdbc.update(sql, row.type(), row.text(), id.consumer(), id.value());
    }

    /**
     * The result of an id, or {@code null} if its claim has none. A transaction that has read before may not see the claim, as
     * that was committed since: it then asks for what is there now.
     */
    @Nullable
    Row find(MessageId id) {
        List<@Nullable Row> seen = query(this.find, id);
        List<@Nullable Row> latest = seen.isEmpty() ? query(this.findLatest, id) : seen;
        return latest.isEmpty() ? null : latest.get(0);
    }

    private List<@Nullable Row> query(String sql, MessageId id) {
        return this.jdbc.query(sql, (row, number) -> read(row), id.consumer(), id.value());
    }

    private static @Nullable Row read(ResultSet row) throws SQLException {
        String type = row.getString(1);
        return (type != null) ? new Row(type, row.getString(2)) : null;
    }
}
