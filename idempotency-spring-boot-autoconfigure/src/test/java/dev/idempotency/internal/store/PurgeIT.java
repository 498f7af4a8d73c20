package dev.idempotency.internal.store;

import static dev.idempotency.internal.store.ProcessedMessagePurge.BEGINNING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.store.ProcessedMessagePurge.Purged;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which rows may be forgotten, the same on every database. */
class PurgeIT extends StoreTest {

    private static final Duration WEEK = Duration.ofDays(7);

    private static final String INSERT = """
            insert into idempotency_processed
                (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            values (?, ?, %s, 'topic', 0, 0)
            """;

    private String insert;
    private ProcessedMessagePurge messages;

    @BeforeEach
    void prepare() {
        this.insert = INSERT.formatted(this.database.dialect().timeOfSeconds());
        this.messages = new ProcessedMessagePurge(this.database);
    }

    @ParameterizedTest(name = "{0}: {1} leaves {2}")
    @CsvSource({
        "older than the retention, 8 6 0, 6 0",
        "counted from the last activity: an outage forgets nothing, 46 40, 46 40",
        "back from a long downtime, 48 46 40 6.9 0, 46 40 6.9 0",
        "back for as long as the retention, 46 40 7.1 3 0, 3 0",
        "a return that does not last, 66 60 30 20 0, 66 60 30 20 0",
        "three pauses in a row are passed over, 112 98 84 70 56 42 28 14 0, 42 28 14 0",
        "a row of a wrong clock does not make others old, 1 -100, 1 -100"
    })
    void whatIsExpiredIsForgotten(String why, String given, String left) {
        given("billing", given);
        long expected = given.split(" ").length - left.split(" ").length;
        assertThat(purgeExpired("billing", WEEK, 100)).isEqualTo((int) expected);
        assertThat(ids("billing")).isEqualTo(Arrays.asList(left.split(" ")));
        assertThat(purgeExpired("billing", WEEK, 100)).isZero();
        assertThat(purgeExpired("billing", Duration.ofDays(99_999_999), 100)).isZero();
    }

    @Test
    void oneConsumersActivityDoesNotConcernAnother() {
        for (String consumer : List.of("billing", "Billing")) {
            given(consumer, "8 5 0");
        }
        given("group/Orders.on", "8");
        assertThat(purgeExpired("group/Orders.on", WEEK, 10)).isZero();
        assertThat(purgeExpired("billing", WEEK, 10)).isEqualTo(1);
        assertThat(ids("Billing")).containsExactly("8", "5", "0");
        assertThat(this.messages.consumers()).containsExactlyInAnyOrder("billing", "Billing", "group/Orders.on");
    }

    @Test
    void aDrainContinuesWhereItHasCome() {
        given("billing", "10 9 5 0");
        Purged<Instant> forgotten = this.messages.purgeExpired("billing", WEEK, daysAgo(9.5), 10);
        assertThat(forgotten.rows()).isEqualTo(1);
        assertThat(forgotten.upTo()).isBetween(daysAgo(9.1), daysAgo(8.9));
        assertThat(ids("billing")).containsExactly("10", "5", "0");
        assertThat(this.messages.purgeExpired("billing", WEEK, forgotten.upTo(), 10))
                .isEqualTo(new Purged<>(0, forgotten.upTo()));
    }

    @Test
    void theOldestGoFirstAlsoThoseOfTheSameMoment() {
        Instant moment = daysAgo(9);
        given("billing", "10 5 0");
        IntStream.range(0, 7).forEach(i -> given("billing", "old-" + i, moment));
        Instant from = BEGINNING;
        for (int batch = 0; batch < 3; batch++) {
            from = this.messages.purgeExpired("billing", WEEK, from, 3).upTo();
            assertThat(ids("billing")).doesNotContain("10").hasSize(7 - batch * 3 + ((batch == 2) ? 1 : 0));
        }
        assertThat(ids("billing")).containsExactly("5", "0");
    }

    @Test
    void aRowThatAnotherTransactionHoldsIsPassedOverWithoutWaiting() throws SQLException {
        given("billing", "10 9 5 0");
        try (Connection other = this.dataSource.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.executeQuery("select * from idempotency_processed"
                    + " where consumer_id = 'billing' and message_id = '10' for update");
            assertThat(purgeExpired("billing", WEEK, 1)).isEqualTo(1);
            other.rollback();
        }
        assertThat(ids("billing")).containsExactly("10", "5", "0");
    }

    private int purgeExpired(String consumer, Duration retention, int limit) {
        return this.messages.purgeExpired(consumer, retention, BEGINNING, limit).rows();
    }

    /** Inserts rows named after their age in days, which is negative for the future. */
    private void given(String consumer, String ages) {
        for (String age : ages.split(" ")) {
            given(consumer, age, daysAgo(Double.parseDouble(age)));
        }
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
