package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** Failures of the library's own statements cost no message; a listener's own are not waited for for ever. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractStoreFailuresIT {

    static final int MAX_ATTEMPTS = 2;

    final String topic = TestKafka.uniqueName("records");

    TestApplication app;

    /** The URL of an empty database, with the application's user in it. */
    abstract String jdbcUrl() throws SQLException;

    /** The URL of the same database for somebody who may do anything. */
    abstract String adminUrl();

    Class<?> listeners() {
        return Listeners.class;
    }

    @BeforeAll
    void start() throws SQLException {
        TestKafka.createTopics(1, this.topic);
        this.app = TestApplication.start(
                jdbcUrl(),
                List.of(
                        "topic=" + this.topic,
                        "spring.datasource.hikari.connection-timeout=2000",
                        "idempotency.cleanup.enabled=false",
                        "idempotency.errors.max-attempts=" + MAX_ATTEMPTS),
                listeners());
    }

    @AfterAll
    void stop() {
        if (this.app != null) {
            this.app.close();
        }
    }

    final void send(String payload) {
        this.app.send(this.topic, payload, payload);
    }

    final Health health() {
        return this.app.bean(IdempotencyHealthIndicator.class).health(true);
    }

    final void awaitMoreRetriesThanAttempts() {
        Retries retries = this.app.bean(Retries.class);
        int before = retries.of("records");
        await().until(() -> retries.of("records") > before + 2 * MAX_ATTEMPTS);
    }

    final void assertDeadLettered(String payload) {
        this.app.awaitCaughtUp(this.topic, this.topic);
        assertThat(TopicContents.values(this.topic + "-dlt")).containsOnlyOnce(payload);
        assertThat(this.app.bean(Effects.class).all()).doesNotContain(payload);
        assertThat(this.app.bean(Listeners.class).attempts()).containsEntry(payload, MAX_ATTEMPTS);
    }

    final void assertAppliedOnce(String payload) {
        this.app.awaitCaughtUp(this.topic, this.topic);
        assertThat(this.app.bean(Effects.class).counts()).containsEntry(payload, 1);
        assertThat(TopicContents.values(this.topic + "-dlt")).doesNotContain(payload);
    }

    final void asAdmin(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Test
    void aTableThatIsGoneIsWaitedFor() throws SQLException {
        asAdmin("alter table idempotency_processed rename to gone");
        try {
            send("patient");
            awaitMoreRetriesThanAttempts();
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        } finally {
            asAdmin("alter table gone rename to idempotency_processed");
        }
        assertAppliedOnce("patient");
    }

    /** Those of others have the same coordinates, which a unique index forbids. */
    @Test
    void aTableThatDoesNotTakeARowAndDoesNotSaySoIsWaitedFor() throws SQLException {
        asAdmin(
                "delete from idempotency_processed",
                "create unique index by_coordinates on idempotency_processed (record_topic, record_offset)");
        for (int offset = 0; offset < 100; offset++) {
            asAdmin(("insert into idempotency_processed"
                            + " (consumer_id, message_id, record_topic, record_partition, record_offset)"
                            + " values ('other', '%1$d', '%2$s', 0, %1$d)")
                    .formatted(offset, this.topic));
        }
        try {
            send("refused");
            awaitMoreRetriesThanAttempts();
        } finally {
            asAdmin(dropIndex("by_coordinates"), "delete from idempotency_processed where consumer_id = 'other'");
        }
        assertAppliedOnce("refused");
    }

    String dropIndex(String name) {
        return "drop index " + name;
    }

    @Test
    void aRowThatSomebodyElseHasLockedIsWaitedFor() throws SQLException {
        try (Connection other = DriverManager.getConnection(adminUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.executeUpdate("update account set balance = balance + 1 where id = 1");
            send("deposit");
            awaitMoreRetriesThanAttempts();
            other.rollback();
        }
        assertAppliedOnce("deposit");
    }

    @Test
    void theListenersOwnMissingTableIsNotWaitedFor() {
        send("grammar");
        assertDeadLettered("grammar");
    }

    @Import(Retries.class)
    static class Listeners extends HasEffects {

        final JdbcTemplate jdbc;
        private final Map<String, Integer> attempts = new ConcurrentHashMap<>();

        Listeners(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table account (id integer primary key, balance integer)");
            jdbc.update("insert into account (id, balance) values (1, 0)");
        }

        Map<String, Integer> attempts() {
            return this.attempts;
        }

        void deposit() {
            this.jdbc.update("update account set balance = balance + 1 where id = 1");
        }

        @KafkaListener(topics = "${topic}", groupId = "${topic}")
        @IdempotentListener("records")
        void onRecord(String payload) {
            this.attempts.merge(payload, 1, Integer::sum);
            this.effects.happen(payload);
            switch (payload) {
                case "deposit" -> deposit();
                case "grammar" -> this.jdbc.update("insert into no_such_table values (1)");
                case "signal" -> this.jdbc.execute("signal sqlstate '45000' set message_text = 'refused'");
                default -> {}
            }
        }
    }
}
