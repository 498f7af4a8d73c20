package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.MessageId;
import dev.idempotency.Version;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.testing.TestMariaDb;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A version that was stored in the hour which the session's clock repeats in autumn. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MariaDbRepeatedHourIT {

    private static final Instant CHANGE = Instant.parse("2026-10-25T01:00:00Z");

    private String url;

    /** The server may not know any time zone by name. */
    @BeforeAll
    void createTimeZone() {
        Optional<String> created = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(created.isPresent(), "There is no embedded MariaDB for this platform");
        this.url = created.orElseThrow();
        try (HikariDataSource dataSource = connect("")) {
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            jdbc.update("insert ignore into mysql.time_zone values (4712, 'N')");
            jdbc.update("insert ignore into mysql.time_zone_name values ('Test/Summer', 4712)");
            jdbc.update("insert ignore into mysql.time_zone_transition_type values"
                    + " (4712, 0, 7200, 1, 'CEST'), (4712, 1, 3600, 0, 'CET')");
            jdbc.update(
                    "insert ignore into mysql.time_zone_transition values (4712, ?, 0), (4712, ?, 1)",
                    CHANGE.minus(Duration.ofDays(200)).getEpochSecond(),
                    CHANGE.getEpochSecond());
        }
    }

    private HikariDataSource connect(String parameters) {
        HikariDataSource dataSource = new HikariDataSource();
        dataSource.setJdbcUrl(this.url + parameters);
        dataSource.setMaximumPoolSize(1);
        return dataSource;
    }

    @Test
    void theSameVersionAgainIsADuplicate() {
        try (HikariDataSource dataSource = connect("&sessionVariables=time_zone='Test/Summer'")) {
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            IdempotencyDatabase database =
                    new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
            new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
            JdbcVersionStore versions = new JdbcVersionStore(database, Duration.ofSeconds(30));
            AdmissionStrategy strategy = new VersionStrategy(versions);
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
            List<Candidate> message = List.of(new Candidate(
                    0,
                    new ConsumerRecord<>("topic", 0, 0, null, null),
                    new EntityVersion(MessageId.of("consumer", "entity"), Version.of(5))));
            for (int minutes = -55; minutes <= 55; minutes += 22) {
                jdbc.update("delete from idempotency_version");
                jdbc.execute("set timestamp = "
                        + CHANGE.plus(Duration.ofMinutes(minutes)).getEpochSecond());
                assertThat(transaction
                                .execute(status -> strategy.admit(message))
                                .admitted())
                        .hasSize(1);
                for (int again = 0; again < 2; again++) {
                    jdbc.execute("set timestamp = default");
                    assertThat(transaction
                                    .execute(status -> strategy.admit(message))
                                    .duplicates())
                            .as("stored %s minutes after the change", minutes)
                            .hasSize(1);
                }
            }
        }
    }
}
