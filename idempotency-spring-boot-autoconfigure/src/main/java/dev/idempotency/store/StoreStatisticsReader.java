package dev.idempotency.store;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Asks the database how much the table holds: its own estimate, and the beginning of an index for each consumer. */
final class StoreStatisticsReader {

    private static final String OLDEST = """
            select %s, %s
            from %s
            where consumer_id = ?
            """;

    private final IdempotencyDatabase database;
    private final @Nullable String rowEstimate;
    private final String oldest;

    StoreStatisticsReader(IdempotencyDatabase database) {
        this(database, database.processedTable(), database.processedEstimate());
    }

    /** Asks of another table, with the query for the estimate of its rows. */
    StoreStatisticsReader(IdempotencyDatabase database, String table, @Nullable String rowEstimate) {
        Dialect dialect = database.dialect();
        this.database = database;
        this.rowEstimate = rowEstimate;
        this.oldest = OLDEST.formatted(dialect.secondsOf("min(processed_at)"), dialect.secondsOfNow(), table);
    }

    StoreStatistics read(Collection<String> consumers) {
        return this.database.inTransaction(jdbc -> {
            Map<String, Duration> ages = new HashMap<>();
            consumers.forEach(consumer -> ages.computeIfAbsent(consumer, each -> oldestAge(each, jdbc)));
            return new StoreStatistics(rows(jdbc), ages);
        });
    }

    private @Nullable Long rows(JdbcTemplate jdbc) {
        return (this.rowEstimate != null)
                ? jdbc.query(this.rowEstimate, row -> row.next() ? row.getLong(1) : null)
                : null;
    }

    private @Nullable Duration oldestAge(String consumer, JdbcTemplate jdbc) {
        return jdbc.query(
                this.oldest,
                row -> (row.next() && row.getBigDecimal(1) != null)
                        ? Duration.between(
                                EpochSeconds.toInstant(row.getBigDecimal(1)),
                                EpochSeconds.toInstant(row.getBigDecimal(2)))
                        : null,
                consumer);
    }
}
