package dev.idempotency.store;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.Seconds;
import dev.idempotency.database.Tables;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Asks the database how much the table holds: its own estimate, and the beginning of an index for each consumer. */
final class TableStatistics {

    private static final String OLDEST = """
            select %s, %s
            from %s
            where consumer_id = ?
            """;

    private final JdbcTemplate jdbc;
    private final @Nullable String rowEstimate;
    private final String oldest;

    TableStatistics(JdbcTemplate jdbc, Dialect dialect, Tables tables) {
        this.jdbc = jdbc;
        this.rowEstimate = dialect.rowEstimateOf(tables);
        this.oldest = OLDEST.formatted(
                dialect.secondsOf("min(processed_at)"), dialect.secondsOfNow(), tables.processed(dialect));
    }

    StoreStatistics read(Collection<String> consumers) {
        Map<String, Duration> ages = new HashMap<>();
        for (String consumer : consumers) {
            Duration age = oldestAge(consumer);
            if (age != null) {
                ages.put(consumer, age);
            }
        }
        return new StoreStatistics(rows(), ages);
    }

    private @Nullable Long rows() {
        return (this.rowEstimate != null)
                ? this.jdbc.query(this.rowEstimate, row -> row.next() ? row.getLong(1) : null)
                : null;
    }

    private @Nullable Duration oldestAge(String consumer) {
        return this.jdbc.query(
                this.oldest,
                row -> (row.next() && row.getBigDecimal(1) != null)
                        ? Duration.between(
                                Seconds.toInstant(row.getBigDecimal(1)), Seconds.toInstant(row.getBigDecimal(2)))
                        : null,
                consumer);
    }
}
