package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.MessageId;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.testing.TestMariaDb;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/** The session is in another time zone than the JVM. */
class MariaDbInboxIT extends AbstractInboxIT {

    /** Claims of several messages that others forget or give back lock the gaps between them. */
    @Override
    boolean isToBeExpected(DataAccessException failure) {
        return failure instanceof PessimisticLockingFailureException;
    }

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow() + "&sessionVariables=time_zone='-09:30'";
    }

    /** At which the clocks of the zone are set back by an hour. */
    private static final Instant SET_BACK = Instant.parse("2025-10-26T01:00:00Z");

    @Test
    void theHourThatClocksRepeatIsNeitherLeftOutNorTakenForTheOther() {
        String url = TestMariaDb.createDatabase().orElseThrow();
        try (HikariDataSource utc = new HikariDataSource();
                HikariDataSource local = new HikariDataSource()) {
            utc.setJdbcUrl(url + "&sessionVariables=time_zone='+00:00'");
            new Schema(new IdempotencyDatabase(utc, DialectResolver.resolve(utc), null), SchemaMode.MIGRATE)
                    .afterPropertiesSet();
            JdbcTemplate jdbc = new JdbcTemplate(utc);
            for (int minutes : List.of(-90, -30, 30, 90)) {
                jdbc.update(
                        "insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,"
                                + " record_offset, record_headers, attempts, updated_at)"
                                + " values ('c', ?, 'failed', 't', 0, ?, '', 1, from_unixtime(?))",
                        String.valueOf(minutes),
                        minutes,
                        EpochSeconds.toDecimal(minutesAfter(minutes)));
            }
            createZone(jdbc);
            local.setJdbcUrl(url + "&sessionVariables=time_zone='Test/Autumn'");
            InboxReader reader = new InboxReader(new IdempotencyDatabase(local, DialectResolver.resolve(local), null));
            assertThat(ids(reader, -15, null)).containsExactly("90", "30");
            assertThat(ids(reader, 15, null)).containsExactly("90", "30");
            assertThat(ids(reader, -45, 15)).containsExactly("-30");
            assertThat(ids(reader, null, -15)).containsExactly("-30", "-90");
            assertThat(ids(reader, null, 15)).containsExactly("-30", "-90");
            assertThat(ids(reader, null, 45)).containsExactly("30", "-30", "-90");
            assertThat(reader.replayable("c", minutesAfter(15), 10))
                    .extracting(MessageId::value)
                    .containsExactly("-90", "-30");
        }
    }

    private static void createZone(JdbcTemplate jdbc) {
        if (jdbc.queryForList("select 1 from mysql.time_zone_name where name = 'Test/Autumn'")
                .isEmpty()) {
            jdbc.update("insert into mysql.time_zone values (4711, 'N')");
            jdbc.update("insert into mysql.time_zone_name values ('Test/Autumn', 4711)");
            jdbc.update("insert into mysql.time_zone_transition_type"
                    + " values (4711, 0, 7200, 1, 'SUMMER'), (4711, 1, 3600, 0, 'WINTER')");
            jdbc.update(
                    "insert into mysql.time_zone_transition values (4711, 0, 0), (4711, ?, 1)",
                    SET_BACK.getEpochSecond());
        }
    }

    private static Instant minutesAfter(int minutes) {
        return SET_BACK.plus(Duration.ofMinutes(minutes));
    }

    private static List<String> ids(InboxReader reader, @Nullable Integer since, @Nullable Integer until) {
        return reader
                .find(InboxQuery.ALL.withTime(
                        (since != null) ? minutesAfter(since) : null, (until != null) ? minutesAfter(until) : null))
                .entries()
                .stream()
                .map(entry -> entry.id().value())
                .toList();
    }
}
