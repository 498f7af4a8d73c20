package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** In a table of a million rows, deleting a thousand touches few others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PurgePlanIT {

    private static final String PAGES = """
            select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit from pg_statio_user_tables
            where relname = 'idempotency_processed'
            """;

    private final TestDatabase database = TestPostgres.createDatabase();
    private final SingleConnectionDataSource dataSource = new SingleConnectionDataSource(this.database.jdbcUrl(), true);
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private ProcessedMessagePurge purge;

    @BeforeAll
    void fillTable() {
        this.purge = new ProcessedMessagePurge(StoreServer.tablesIn(this.dataSource));
        this.jdbc.update("""
                insert into idempotency_processed
                    (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                select 'consumer-' || n % 4, md5(n::text), current_timestamp - (n / 100000.0) * interval '10 days',
                    'topic', 0, n
                from generate_series(1, 1000000) as n
                """);
        this.jdbc.execute("vacuum analyze idempotency_processed");
    }

    @AfterAll
    void dropDatabase() {
        this.dataSource.destroy();
        this.database.close();
    }

    @Test
    void expiredRowsAreFoundThroughTheIndex() {
        // Often enough for the driver and the server to switch to a generic plan.
        for (int batch = 0; batch < 12; batch++) {
            assertThat(pagesOf(() -> expired("consumer-1", 7), 1_000)).isLessThan(30_000);
        }
    }

    @Test
    void whereNothingIsExpiredNothingIsWalkedOver() {
        assertThat(pagesOf(() -> expired("consumer-0", 300), 0)).isLessThan(100);
    }

    @Test
    void afterAPauseExpiredRowsAreFoundThroughTheIndex() {
        this.jdbc.update("""
                delete from idempotency_processed
                where consumer_id = 'consumer-2' and processed_at > current_timestamp - interval '20 days'
                """);
        this.jdbc.update("""
                insert into idempotency_processed (consumer_id, message_id, record_topic, record_partition, record_offset)
                values ('consumer-2', 'back', 'topic', 0, 0)
                """);
        this.jdbc.execute("vacuum idempotency_processed");
        assertThat(pagesOf(() -> expired("consumer-2", 300), 0)).isLessThan(100);
        assertThat(pagesOf(() -> expired("consumer-2", 7), 1_000)).isLessThan(30_000);
    }

    @Test
    void rowsOfAnAbandonedConsumerThatTheStatisticsDoNotKnowAreFoundThroughTheIndex() {
        this.jdbc.execute("alter table idempotency_processed set (autovacuum_enabled = false)");
        this.jdbc.update("""
                update idempotency_processed set consumer_id = 'gone'
                where consumer_id = 'consumer-3' and processed_at < current_timestamp - interval '90 days'
                """);
        assertThat(pagesOf(
                        () -> this.purge
                                .purgeAbandoned("gone", Duration.ofDays(30), ProcessedMessagePurge.BEGINNING, 1_000)
                                .rows(),
                        1_000))
                .isLessThan(30_000);
    }

    private int expired(String consumer, int days) {
        return this.purge
                .purgeExpired(consumer, Duration.ofDays(days), ProcessedMessagePurge.BEGINNING, 1_000)
                .rows();
    }

    /** The number of pages of table and indexes that a purge of this many rows reads. */
    private long pagesOf(Supplier<Integer> purge, int rows) {
        long before = pages();
        assertThat(purge.get()).isEqualTo(rows);
        return pages() - before;
    }

    private long pages() {
        this.jdbc.execute("select pg_stat_force_next_flush()");
        return this.jdbc.queryForObject(PAGES, Long.class);
    }
}
