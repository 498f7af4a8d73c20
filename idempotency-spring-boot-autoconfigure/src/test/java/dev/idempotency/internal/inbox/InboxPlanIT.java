package dev.idempotency.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A query for a few messages reads only a few rows, however many are stored. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InboxPlanIT {

    private final TestDatabase database = TestPostgres.createDatabase();
    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(this.database.jdbcUrl());
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private final TransactionTemplate transaction =
            new TransactionTemplate(new JdbcTransactionManager(this.dataSource));
    private final IdempotencyDatabase tables = StoreServer.tablesIn(this.dataSource);

    @BeforeAll
    void manyRows() {
        this.jdbc.update("""
                insert into idempotency_inbox (consumer_id, message_id, status, message_type, record_topic,
                    record_partition, record_offset, record_headers, attempts, updated_at)
                select 'consumer-' || n % 4, md5(n::text), case when n % 100 = 0 then 'failed' else 'processed' end,
                    'type', 'topic', 0, n, '', 1, current_timestamp - n * interval '1 second'
                from generate_series(1, 100000) as n
                """);
        this.jdbc.execute("analyze idempotency_inbox");
    }

    @AfterAll
    void dropDatabase() {
        this.database.close();
    }

    @Test
    void aPageIsReadThroughTheIndexWithAStatusOrWithout() {
        assertThatFewAreReadFor(InboxQuery.ALL);
        assertThatFewAreReadFor(InboxQuery.ALL.withStatus(InboxStatus.FAILED));
        assertThatFewAreReadFor(InboxQuery.ALL.withAfter(
                new InboxReader(this.tables).find(InboxQuery.ALL).next()));
        assertThatFewAreReadFor(InboxQuery.ALL.withStatus(InboxStatus.PROCESSED).withConsumer("consumer-1"));
        assertThatFewAreReadFor(InboxQuery.ALL.withTime(null, Instant.now().minus(Duration.ofHours(20))));
    }

    private void assertThatFewAreReadFor(InboxQuery query) {
        assertThatFewAreRead(() ->
                assertThat(new InboxReader(this.tables).find(query).entries()).hasSize(50));
    }

    @Test
    void whereNothingIsExpiredHardlyAnythingIsRead() {
        assertThatFewAreReadToFindNothingExpired("consumer-1", Duration.ofDays(7), Instant.EPOCH);
    }

    @Test
    void whereAnotherConsumerKeepsItsMessagesForLongerWhatHasBeenLookedThroughIsNotReadAgain() {
        Duration age = Duration.ofHours(20);
        assertThatFewAreReadToFindNothingExpired("nobody", age, Instant.now().minus(age));
    }

    private void assertThatFewAreReadToFindNothingExpired(String consumer, Duration age, Instant from) {
        InboxCleanup cleanup = new InboxCleanup(this.tables, List::of, null, Duration.ZERO, Duration.ZERO);
        assertThatFewAreRead(
                () -> assertThat(cleanup.deleteExpired(List.of(consumer), InboxStatus.PROCESSED, age, from, 1000)
                                .rows())
                        .isZero());
    }

    private void assertThatFewAreRead(Runnable work) {
        this.transaction.executeWithoutResult(status -> {
            work.run();
            // The server's count of reads in this transaction.
            String reads =
                    "select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relname = 'idempotency_inbox'";
            assertThat(this.jdbc.queryForMap(reads))
                    .containsEntry("seq_scan", 0L)
                    .satisfies(
                            read -> assertThat((Long) read.get("idx_tup_fetch")).isLessThan(500));
        });
    }
}
