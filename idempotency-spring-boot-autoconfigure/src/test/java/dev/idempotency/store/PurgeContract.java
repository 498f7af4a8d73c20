package dev.idempotency.store;

import static dev.idempotency.store.ProcessedMessagePurge.BEGINNING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.PurgeStatement.Purged;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;

/** What may be forgotten, the same on every database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PurgeContract {

    private static final Duration WEEK = Duration.ofDays(7);
    private static final Duration MONTH = Duration.ofDays(30);

    private static final String INSERT = """
            insert into idempotency_processed
                (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            values (?, ?, %s, 'topic', 0, 0)
            """;

    private DataSource dataSource;
    private JdbcTemplate jdbc;
    private String insert;
    private ProcessedMessagePurge messages;

    abstract DataSource createDataSource();

    @BeforeAll
    void createTable() {
        this.dataSource = createDataSource();
        this.jdbc = new JdbcTemplate(this.dataSource);
        Dialect dialect = DialectResolver.resolve(this.dataSource);
        this.insert = INSERT.formatted(dialect.timeOfSeconds());
        IdempotencyDatabase database = new IdempotencyDatabase(this.dataSource, dialect, null);
        new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
        this.messages = new ProcessedMessagePurge(database);
    }

    @BeforeEach
    void emptyTable() {
        this.jdbc.update("delete from idempotency_processed");
    }

    @Test
    void whatIsOlderThanTheRetentionIsForgotten() {
        given("billing", "old", daysAgo(8));
        given("billing", "young", daysAgo(6));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", WEEK, 10)).isEqualTo(1);
        assertThat(ids("billing")).containsExactly("young", "last");
    }

    @Test
    void retentionCountsFromTheLastActivitySoThatAnOutageForgetsNothing() {
        given("billing", "before-the-outage", daysAgo(46));
        given("billing", "last-before-the-outage", daysAgo(40));
        assertThat(purgeExpired("billing", WEEK, 10)).isZero();
    }

    @Test
    void onItsReturnFromALongDowntimeAConsumerStillKnowsWhatItHadProcessedBefore() {
        given("billing", "long-before", daysAgo(48));
        given("billing", "before", daysAgo(46));
        given("billing", "last-before", daysAgo(40));
        given("billing", "first-after", daysAgo(6.9));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", WEEK, 10)).isEqualTo(1);
        assertThat(ids("billing")).containsExactly("before", "last-before", "first-after", "last");
    }

    @Test
    void whatADowntimeHasKeptIsForgottenWhenTheConsumerHasBeenBackForItsRetention() {
        given("billing", "before", daysAgo(46));
        given("billing", "last-before", daysAgo(40));
        given("billing", "first-after", daysAgo(7.1));
        given("billing", "after", daysAgo(3));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", WEEK, 10)).isEqualTo(3);
        assertThat(ids("billing")).containsExactly("after", "last");
    }

    @Test
    void aReturnThatDoesNotLastDoesNotMakeAConsumerForget() {
        given("billing", "before", daysAgo(66));
        given("billing", "last-before", daysAgo(60));
        given("billing", "back-for-a-moment", daysAgo(30));
        given("billing", "and-again", daysAgo(20));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", WEEK, 10)).isZero();
    }

    @Test
    void aConsumerWhoseMessagesAreFartherApartThanItsRetentionDoesNotRememberThemForEver() {
        for (int message = 30; message >= 0; message--) {
            given("rare", "rare-" + message, daysAgo(message * 14));
        }
        assertThat(purgeExpired("rare", WEEK, 100)).isEqualTo(27);
        assertThat(ids("rare")).containsExactly("rare-3", "rare-2", "rare-1", "rare-0");
        assertThat(purgeExpired("rare", WEEK, 100)).isZero();
    }

    @Test
    void theActivityAndTheRetentionOfOneConsumerAreNoneOfAnothersBusiness() {
        given("billing", "old", daysAgo(8));
        given("billing", "young", daysAgo(5));
        given("billing", "last", daysAgo(0));
        given("mailing", "old", daysAgo(8));
        given("Billing", "old", daysAgo(8));
        given("Billing", "last", daysAgo(0));
        assertThat(purgeExpired("mailing", WEEK, 10)).isZero();
        assertThat(purgeExpired("billing", WEEK, 10)).isEqualTo(1);
        assertThat(ids("mailing")).containsExactly("old");
        assertThat(ids("Billing")).containsExactly("old", "last");
    }

    @Test
    void aRetentionLongerThanAnyDatabaseCanCountBackForgetsNothing() {
        given("billing", "old", daysAgo(8_000));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", Duration.ofDays(99_999_999), 10)).isZero();
    }

    @Test
    void theOldestGoFirstAndNoMoreThanTheLimit() {
        for (int day = 20; day >= 0; day--) {
            given("billing", "day-" + day, daysAgo(day));
        }
        Purged first = this.messages.purgeExpired("billing", WEEK, BEGINNING, 10);
        assertThat(first.rows()).isEqualTo(10);
        assertThat(ids("billing")).startsWith("day-10", "day-9").hasSize(11);
        Purged second = this.messages.purgeExpired("billing", WEEK, first.upTo(), 10);
        assertThat(second.rows()).isBetween(3, 4);
        assertThat(ids("billing")).contains("day-6").doesNotContain("day-8");
    }

    @Test
    void aDrainContinuesWhereItHasCome() {
        given("billing", "passed-over", daysAgo(10));
        given("billing", "old", daysAgo(9));
        given("billing", "young", daysAgo(5));
        given("billing", "last", daysAgo(0));
        Purged forgotten = this.messages.purgeExpired("billing", WEEK, daysAgo(9.5), 10);
        assertThat(forgotten.rows()).isEqualTo(1);
        assertThat(forgotten.upTo()).isBetween(daysAgo(9.1), daysAgo(8.9));
        assertThat(ids("billing")).containsExactly("passed-over", "young", "last");
        Purged none = this.messages.purgeExpired("billing", WEEK, forgotten.upTo(), 10);
        assertThat(none).isEqualTo(new Purged(0, forgotten.upTo()));
    }

    @Test
    void messagesOfTheSameMomentAreAllReachedByADrain() {
        Instant moment = daysAgo(9);
        for (int i = 0; i < 7; i++) {
            given("billing", "old-" + i, moment);
        }
        given("billing", "young", daysAgo(5));
        given("billing", "last", daysAgo(0));
        Instant from = BEGINNING;
        for (int batch = 0; batch < 3; batch++) {
            from = this.messages.purgeExpired("billing", WEEK, from, 3).upTo();
        }
        assertThat(ids("billing")).containsExactly("young", "last");
    }

    @Test
    void moreThanOneStatementCanHoldIsForgottenInOneGo() {
        List<Object[]> rows = IntStream.range(0, 1203)
                .mapToObj(i -> new Object[] {"billing", "old-" + i, EpochSeconds.toDecimal(daysAgo(9))})
                .toList();
        this.jdbc.batchUpdate(this.insert, rows);
        given("billing", "young", daysAgo(5));
        given("billing", "last", daysAgo(0));
        assertThat(purgeExpired("billing", WEEK, 2000)).isEqualTo(1203);
        assertThat(ids("billing")).containsExactly("young", "last");
    }

    @Test
    void aRowThatAnotherTransactionHoldsIsPassedOverWithoutWaiting() throws SQLException {
        given("billing", "held", daysAgo(10));
        given("billing", "free", daysAgo(9));
        given("billing", "young", daysAgo(5));
        given("billing", "last", daysAgo(0));
        try (Connection other = this.dataSource.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.executeQuery("select * from idempotency_processed"
                    + " where consumer_id = 'billing' and message_id = 'held' for update");
            assertThat(purgeExpired("billing", WEEK, 1)).isEqualTo(1);
            other.rollback();
        }
        assertThat(ids("billing")).containsExactly("held", "young", "last");
    }

    @Test
    void aRowOfTheFutureMadeByAWrongClockDoesNotMakeTheOthersOld() {
        given("billing", "young", daysAgo(1));
        given("billing", "of-the-future", daysAgo(-100));
        assertThat(purgeExpired("billing", WEEK, 10)).isZero();
    }

    @Test
    void anAbandonedConsumerIsKeptUntilItsTime() {
        given("gone", "first", daysAgo(60));
        given("gone", "last", daysAgo(29));
        assertThat(this.messages.purgeAbandoned("gone", MONTH, BEGINNING, 10).rows())
                .isZero();
    }

    @Test
    void anAbandonedConsumerIsForgottenWhollyWhenItsTimeHasCome() {
        given("gone", "first", daysAgo(60));
        given("gone", "middle", daysAgo(45));
        given("gone", "last", daysAgo(31));
        given("billing", "old", daysAgo(60));
        Purged first = this.messages.purgeAbandoned("gone", MONTH, BEGINNING, 2);
        assertThat(first.rows()).isEqualTo(2);
        assertThat(ids("gone")).containsExactly("last");
        assertThat(this.messages.purgeAbandoned("gone", MONTH, first.upTo(), 2).rows())
                .isEqualTo(1);
        assertThat(this.messages.consumers()).containsExactly("billing");
    }

    @Test
    void theConsumersOfTheTableAreKnownEachOnce() {
        assertThat(this.messages.consumers()).isEmpty();
        for (String consumer : List.of("mailing", "billing", "Billing", "group/Orders.on")) {
            given(consumer, "1", daysAgo(1));
            given(consumer, "2", daysAgo(0));
        }
        assertThat(this.messages.consumers())
                .containsExactlyInAnyOrder("mailing", "billing", "Billing", "group/Orders.on");
    }

    private int purgeExpired(String consumer, Duration retention, int limit) {
        return this.messages.purgeExpired(consumer, retention, BEGINNING, limit).rows();
    }

    private void given(String consumer, String id, Instant processedAt) {
        this.jdbc.update(this.insert, consumer, id, EpochSeconds.toDecimal(processedAt));
    }

    private List<String> ids(String consumer) {
        return this.jdbc.queryForList(
                "select message_id from idempotency_processed where consumer_id = ? order by processed_at",
                String.class,
                consumer);
    }

    private static Instant daysAgo(double days) {
        return Instant.now().minus(Duration.ofMillis((long) (days * 86_400_000)));
    }
}
