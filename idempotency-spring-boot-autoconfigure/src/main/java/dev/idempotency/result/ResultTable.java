package dev.idempotency.result;

import dev.idempotency.MessageId;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.IdempotencyDatabase;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;

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

    private static final String FIND = """
            select kept.result_type, kept.result, %s, %s
            from %s as kept
            left join %s as claim on claim.consumer_id = kept.consumer_id and claim.message_id = kept.message_id
            where kept.consumer_id = ? and kept.message_id = ?
            """;

    /** Sees what was committed since the transaction has read for the first time. */
    private static final String FIND_LATEST = """
            select result_type, result, %s
            from %s
            where consumer_id = ? and message_id = ?
            for update
            """;

    /**
     * A row of the table.
     *
     * @param type the name of the result's type
     * @param text the result as it was written
     */
    record Row(String type, String text) {}

    /** A row, with its own time and that of the claim, if the transaction sees one. */
    private record Found(Row row, BigDecimal time, @Nullable BigDecimal claimTime) {}

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final @Nullable String replacement;
    private final String insert;
    private final String update;
    private final String find;
    private final String findLatest;

    ResultTable(IdempotencyDatabase database) {
        Dialect dialect = database.dialect();
        String table = database.resultTable();
        String processed = database.processedTable();
        this.database = database;
        this.jdbc = database.jdbc();
        this.replacement = dialect.resultReplacementIn(table, processed);
        this.insert = INSERT.formatted(table, processed);
        this.update = UPDATE.formatted(table, processed);
        this.find = FIND.formatted(
                dialect.secondsOf("kept.processed_at"), dialect.secondsOf("claim.processed_at"), table, processed);
        this.findLatest = FIND_LATEST.formatted(dialect.secondsOf("processed_at"), table);
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

    /** The result of an id, or {@code null} if its claim has none. */
    @Nullable
    Row find(MessageId id) {
        Found seen = query(this.find, id, (row, number) -> found(row, row.getBigDecimal(4)));
        if (seen != null && seen.claimTime() != null) {
            return (seen.time().compareTo(seen.claimTime()) == 0) ? seen.row() : null;
        }
        // A transaction that has read before does not see the claim, as that was committed since, and its result
        // neither.
        Found latest = query(this.findLatest, id, (row, number) -> found(row, null));
        boolean known = seen != null && latest != null && seen.time().compareTo(latest.time()) == 0;
        return (latest == null || known) ? null : latest.row();
    }

    private static Found found(ResultSet row, @Nullable BigDecimal claimTime) throws SQLException {
        return new Found(new Row(row.getString(1), row.getString(2)), row.getBigDecimal(3), claimTime);
    }

    private @Nullable Found query(String sql, MessageId id, RowMapper<Found> mapper) {
        List<Found> rows = this.jdbc.query(sql, mapper, id.consumer(), id.value());
        return rows.isEmpty() ? null : rows.get(0);
    }
}
