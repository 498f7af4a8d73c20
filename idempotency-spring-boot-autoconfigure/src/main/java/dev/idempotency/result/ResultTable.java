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
            select kept.result_type, kept.result, %s, %s
            from %s as claim
            left join %s as kept on kept.consumer_id = claim.consumer_id and kept.message_id = claim.message_id
            where claim.consumer_id = ? and claim.message_id = ?
            """;

    private static final String FIND_TIME = "select %s from %s where consumer_id = ? and message_id = ?";

    /**
     * Sees what was committed since the transaction has read for the first time. Where there is nothing, some databases lock
     * the gap where others insert.
     */
    private static final String FIND_LATEST = """
            select result_type, result, %s
            from %s
            where consumer_id = ? and message_id = ?
            for update
            """;

    /** Smaller ones are not measured. */
    private static final int LARGE = 100_000;

    /** What a statement may have beside the text of the result. */
    private static final int ALL_ELSE = 10_000;

    /**
     * A row of the table.
     *
     * @param type the name of the result's type
     * @param text the result as it was written
     */
    record Row(String type, String text) {}

    /** A row, with its time. */
    private record Found(Row row, BigDecimal time) {}

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final @Nullable String replacement;
    private final String insert;
    private final String update;
    private final String find;
    private final String findTime;
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
                dialect.secondsOf("kept.processed_at"), dialect.secondsOf("claim.processed_at"), processed, table);
        this.findTime = FIND_TIME.formatted(dialect.secondsOf("processed_at"), table);
        this.findLatest = FIND_LATEST.formatted(dialect.secondsOf("processed_at"), table);
    }

    /**
     * How many bytes the database takes, if a row is larger: it would give up the connection, as if it were out of order.
     *
     * @return {@code null} if it takes the row
     */
    @Nullable
    Long limitExceededBy(Row row) {
        if (row.text().length() < LARGE) {
            return null;
        }
        Long limit = this.database.dialect().maxStatementSize(this.jdbc);
        return (limit != null && sizeOf(row) > limit) ? limit : null;
    }

    /** At most: drivers may write a value into the statement, with a backslash before what has a meaning there. */
    private static long sizeOf(Row row) {
        long escaped = row.text()
                .chars()
                .filter(character -> character == '"' || character == '\\' || character == '\'')
                .count();
        return row.text().length() + escaped + ALL_ELSE;
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
        List<@Nullable Row> seen = this.jdbc.query(this.find, (row, number) -> ofClaim(row), id.consumer(), id.value());
        return seen.isEmpty() ? findLatest(id) : seen.get(0);
    }

    private static @Nullable Row ofClaim(ResultSet row) throws SQLException {
        BigDecimal time = row.getBigDecimal(3);
        boolean isOfClaim = time != null && time.compareTo(row.getBigDecimal(4)) == 0;
        return isOfClaim ? new Row(row.getString(1), row.getString(2)) : null;
    }

    /**
     * A transaction that has read before does not see the claim, as that was committed since, and its result neither: what it
     * sees is of an earlier one.
     */
    private @Nullable Row findLatest(MessageId id) {
        List<BigDecimal> earlier = this.jdbc.queryForList(this.findTime, BigDecimal.class, id.consumer(), id.value());
        List<Found> latest = this.jdbc.query(
                this.findLatest,
                (row, number) -> new Found(new Row(row.getString(1), row.getString(2)), row.getBigDecimal(3)),
                id.consumer(),
                id.value());
        boolean known = !latest.isEmpty()
                && !earlier.isEmpty()
                && earlier.get(0).compareTo(latest.get(0).time()) == 0;
        return (latest.isEmpty() || known) ? null : latest.get(0).row();
    }
}
