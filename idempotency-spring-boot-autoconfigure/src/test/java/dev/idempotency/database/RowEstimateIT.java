package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** The estimate of a table in a schema of its own, on one connection. */
class RowEstimateIT {

    private static final int ROWS = 20;

    @Test
    void postgresKnowsTheRowsOfATableThatWasNeverAnalyzed() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            SingleConnectionDataSource dataSource = new SingleConnectionDataSource(database.jdbcUrl(), true);
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            ProcessedMessageStore store = fill(dataSource);
            jdbc.execute("select pg_stat_force_next_flush()");
            assertThat(jdbc.queryForObject(
                            "select reltuples from pg_class where oid = to_regclass('\"Dedup\".idempotency_processed')",
                            Integer.class))
                    .isEqualTo(-1);
            assertThat(store.statistics(Set.of()).rows()).isEqualTo(ROWS);
            dataSource.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";DATABASE_TO_UPPER=false", ";DATABASE_TO_LOWER=true"})
    void h2KnowsTheRows(String settings) {
        SingleConnectionDataSource dataSource = new SingleConnectionDataSource("jdbc:h2:mem:" + settings, true);
        assertThat(fill(dataSource).statistics(Set.of()).rows()).isEqualTo(ROWS);
        dataSource.destroy();
    }

    private static ProcessedMessageStore fill(SingleConnectionDataSource dataSource) {
        IdempotencyDatabase database =
                new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), "Dedup");
        JdbcTemplate jdbc = new JdbcTemplate(dataSource);
        jdbc.execute("create schema \"Dedup\"");
        new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
        for (int i = 0; i < ROWS; i++) {
            jdbc.update("""
                    insert into "Dedup".idempotency_processed
                        (consumer_id, message_id, record_topic, record_partition, record_offset)
                    values ('consumer', ?, 'topic', 0, 0)
                    """, String.valueOf(i));
        }
        return new JdbcProcessedMessageStore(database, Duration.ofSeconds(10));
    }
}
