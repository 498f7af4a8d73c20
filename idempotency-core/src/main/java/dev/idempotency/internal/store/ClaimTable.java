package dev.idempotency.internal.store;

import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.store.StoreStatistics;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** A table with a row per consumer and message id: how its rows are found, counted and deleted. */
final class ClaimTable<T> {

    private static final int IDS_PER_QUERY = 500;

    private final IdempotencyDatabase database;
    private final RowReader<T> reader;
    private final String rowEstimate;
    private final Supplier<Function<MessageId, String>> tables;
    private final String find;
    private final String any;
    private final String oldest;
    private final String delete;

    /**
     * Reads a table.
     *
     * @param tables the tables to look for ids in: this one, or slots of a ring
     * @param activity the table that tells when consumers were active
     * @param columns what is read of a row
     * @param reader reads it, from the second column on
     * @param rowEstimate the query for the estimate of the rows
     */
    ClaimTable(
            IdempotencyDatabase database,
            String table,
            Supplier<Function<MessageId, String>> tables,
            String activity,
            String columns,
            RowReader<T> reader,
            String rowEstimate) {
        Dialect dialect = database.dialect();
        this.database = database;
        this.tables = tables;
        this.reader = reader;
        this.rowEstimate = rowEstimate;
        this.find = "select message_id, %s from ".formatted(columns);
        this.any = "select min(message_id) from %s where consumer_id = ?".formatted(table);
        this.oldest = "select %s, %s from %s where consumer_id = ?"
                .formatted(dialect.secondsOf("min(processed_at)"), dialect.secondsOf(dialect.now()), activity);
        this.delete = "delete from %s where consumer_id = ? and message_id = ?".formatted(table);
    }

    /** Reads the current row, from a column on. */
    @FunctionalInterface
    interface RowReader<T> {

        T read(MessageId id, ResultSet row, int first) throws SQLException;
    }

    /** Finds rows of one consumer, in the current transaction or a new one. */
    Map<MessageId, T> find(Collection<MessageId> ids) {
        return this.database.inTransaction(jdbc -> find(ids, "", jdbc));
    }

    /** Finds rows for which claims of the current transaction were refused. */
    Map<MessageId, T> findCurrent(Collection<MessageId> ids) {
        return this.database.inTransaction(
                jdbc -> find(ids, this.database.dialect().currentRead(), jdbc));
    }

    Map<MessageId, T> find(Collection<MessageId> ids, String ending, JdbcTemplate jdbc) {
        Map<MessageId, T> found = new HashMap<>();
        ids.stream()
                .collect(Collectors.groupingBy(this.tables.get()))
                .forEach((table, some) -> find(table, some, ending, jdbc, found));
        return found;
    }

    private void find(String table, List<MessageId> all, String ending, JdbcTemplate jdbc, Map<MessageId, T> found) {
        String sql = this.find + table + " where consumer_id = ? and message_id in (";
        for (int from = 0; from < all.size(); from += IDS_PER_QUERY) {
            List<MessageId> some = all.subList(from, Math.min(from + IDS_PER_QUERY, all.size()));
            String consumer = some.get(0).consumer();
            jdbc.query(
                    sql + "?" + ", ?".repeat(some.size() - 1) + ")" + ending,
                    row -> {
                        MessageId id = new MessageId(consumer, row.getString(1));
                        found.put(id, this.reader.read(id, row, 2));
                    },
                    Stream.concat(Stream.of(consumer), some.stream().map(MessageId::value))
                            .toArray());
        }
    }

    /** Returns whether a consumer has any row; one step in the primary key. */
    boolean hasAny(String consumer) {
        return this.database.inTransaction(jdbc -> jdbc.queryForObject(this.any, String.class, consumer) != null);
    }

    /** Returns whether there was such a row. */
    boolean delete(MessageId id, JdbcTemplate jdbc) {
        return jdbc.update(this.delete, id.consumer(), id.value()) > 0;
    }

    /** Asks for the database's own estimate, and for the beginning of an index for each consumer. */
    StoreStatistics statistics(Collection<String> consumers) {
        return this.database.inTransaction(jdbc -> {
            Map<String, Duration> ages = new HashMap<>();
            consumers.forEach(consumer -> ages.computeIfAbsent(consumer, each -> oldestAge(each, jdbc)));
            Long rows = jdbc.query(this.rowEstimate, row -> row.next() ? row.getLong(1) : null);
            return new StoreStatistics(rows, ages);
        });
    }

    private @Nullable Duration oldestAge(String consumer, JdbcTemplate jdbc) {
        return jdbc.query(
                this.oldest,
                row -> {
                    BigDecimal oldest = row.next() ? row.getBigDecimal(1) : null;
                    return (oldest != null)
                            ? Duration.between(
                                    EpochSeconds.toInstant(oldest), EpochSeconds.toInstant(row.getBigDecimal(2)))
                            : null;
                },
                consumer);
    }
}
