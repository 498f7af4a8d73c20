package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.store.ProcessedMessagePurge;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** In a table of a million rows, forgetting a thousand touches not many more than a thousand. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PurgePlanIT {

    private static final String TABLE = "idempotency_processed";
    private static final String INDEX = "idempotency_processed_cleanup";
    private static final int PAGES_FOR_A_THOUSAND_ROWS = 6_000;

    private final TestDatabase database = TestPostgres.createDatabase();
    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(this.database.jdbcUrl());
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private final TransactionTemplate undone = new TransactionTemplate(new JdbcTransactionManager(this.dataSource));
    private final PostgresDialect dialect = new PostgresDialect();

    @BeforeAll
    void aMillionRows() {
        new Schema(new IdempotencyDatabase(this.dataSource, this.dialect, null), SchemaMode.MIGRATE)
                .afterPropertiesSet();
        this.jdbc.update("""
                insert into idempotency_processed
                    (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                select 'consumer-' || n % 4, md5(n::text), current_timestamp - (n / 100000.0) * interval '10 days',
                    'topic', 0, n
                from generate_series(1, 1000000) as n
                """);
        this.jdbc.execute("analyze idempotency_processed");
    }

    @AfterAll
    void dropDatabase() {
        this.database.close();
    }

    @Test
    void expiredRowsAreFoundThroughTheIndex() {
        assertUsesTheIndex(explain(this.dialect.purgeExpiredIn(TABLE), "consumer-1", Duration.ofDays(7)));
    }

    @Test
    void whereNothingIsExpiredNothingIsWalkedOver() {
        Plan plan = explain(this.dialect.purgeExpiredIn(TABLE), "consumer-1", Duration.ofDays(300));
        assertUsesTheIndex(plan);
        assertThat(plan.pages()).isLessThan(100);
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
        assertUsesTheIndex(explain(this.dialect.purgeExpiredIn(TABLE), "consumer-2", Duration.ofDays(7)));
        Plan nothing = explain(this.dialect.purgeExpiredIn(TABLE), "consumer-2", Duration.ofDays(300));
        assertThat(nothing.pages()).isLessThan(100);
    }

    @Test
    void rowsOfAnAbandonedConsumerThatTheStatisticsDoNotKnowAreFoundThroughTheIndex() {
        this.jdbc.execute("alter table idempotency_processed set (autovacuum_enabled = false)");
        this.jdbc.update("""
                update idempotency_processed set consumer_id = 'gone'
                where consumer_id = 'consumer-3' and processed_at < current_timestamp - interval '90 days'
                """);
        assertUsesTheIndex(explain(this.dialect.purgeAbandonedIn(TABLE), "gone", Duration.ofDays(30)));
    }

    private static void assertUsesTheIndex(Plan plan) {
        assertThat(plan.text()).contains(INDEX, "Tid Scan").doesNotContain("Seq Scan on " + TABLE);
        assertThat(plan.pages()).as(plan.text()).isLessThan(PAGES_FOR_A_THOUSAND_ROWS);
    }

    /** Runs the statement as it is run in earnest, and undoes it. */
    private Plan explain(PostgresPurgeStatement statement, String consumer, Duration age) {
        PurgeStatement.Request request =
                new PurgeStatement.Request(consumer, age, ProcessedMessagePurge.BEGINNING, 1000);
        return this.undone.execute(status -> {
            status.setRollbackOnly();
            this.jdbc.execute(PostgresPurgeStatement.IN_ORDER_OF_THE_INDEX);
            List<String> lines = this.jdbc.query(
                    "explain (analyze, buffers) " + statement.sql(),
                    explained -> PostgresPurgeStatement.bind(explained, request),
                    (row, number) -> row.getString(1));
            return new Plan(String.join("\n", lines));
        });
    }

    private record Plan(String text) {

        private static final Pattern BUFFERS = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?");

        /** Pages that the whole statement looked at, which its topmost node says. */
        int pages() {
            Matcher buffers = BUFFERS.matcher(this.text);
            assertThat(buffers.find()).as(this.text).isTrue();
            return Stream.of(buffers.group(1), buffers.group(2))
                    .filter(Objects::nonNull)
                    .mapToInt(Integer::parseInt)
                    .sum();
        }
    }
}
