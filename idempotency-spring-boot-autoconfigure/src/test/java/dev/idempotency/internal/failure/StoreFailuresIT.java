package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.testing.TestKafka;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * No message is lost when one of the library's statements fails. MariaDB's driver reports many unknown errors as connection
 * failures, and its states are unspecific, like those that H2 reports.
 */
@ParameterizedClass
@EnumSource(StoreServer.class)
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StoreFailuresIT {

    private static final int MAX_ATTEMPTS = 2;

    @Parameter
    StoreServer server;

    private String topic;
    private String url;
    private TestApplication app;

    @BeforeParameterizedClassInvocation
    void start() {
        this.topic = TestKafka.createTopic("records", 1);
        this.url = this.server.emptyDatabase();
        this.app = TestApplication.start(
                this.url,
                List.of(
                        "topic=" + this.topic,
                        "spring.datasource.hikari.connection-timeout=2000",
                        "idempotency.cleanup.enabled=false",
                        "idempotency.errors.max-attempts=" + MAX_ATTEMPTS),
                Listeners.class);
    }

    @AfterParameterizedClassInvocation
    void stop() {
        if (this.app != null) {
            this.app.close();
        }
    }

    private void send(String payload) {
        this.app.send(this.topic, payload, payload);
    }

    private Health health() {
        return this.app.bean(IdempotencyHealthIndicator.class).health(true);
    }

    private void awaitMoreRetriesThanAttempts() {
        AtomicInteger retried = this.app.bean(Outcomes.class).retried;
        int before = retried.get();
        await().until(() -> retried.get() > before + 2 * MAX_ATTEMPTS);
    }

    private void assertAppliedOnce(String payload) {
        this.app.awaitCaughtUp(this.topic, this.topic);
        assertThat(this.app.bean(Effects.class).counts()).containsEntry(payload, 1);
        assertThat(TopicContents.values(this.topic + "-dlt")).doesNotContain(payload);
    }

    private Connection connect() throws SQLException {
        return (this.server == StoreServer.H2)
                ? DriverManager.getConnection(this.url, "sa", "")
                : DriverManager.getConnection(this.url);
    }

    private void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"idempotency_processed", "idempotency_inbox"})
    void aTableThatIsGoneIsWaitedFor(String table) throws SQLException {
        execute("alter table " + table + " rename to gone");
        try {
            send("without " + table);
            awaitMoreRetriesThanAttempts();
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
            assertThat(health().getDetails().toString()).containsIgnoringCase(table);
        } finally {
            execute("alter table gone rename to " + table);
        }
        assertAppliedOnce("without " + table);
        await().until(() -> health().getStatus() == Status.UP);
    }

    /** Rows of another consumer have the same coordinates, which a unique index forbids. */
    @Test
    void aTableThatDoesNotTakeARowAndDoesNotSaySoIsWaitedFor() throws SQLException {
        execute(
                "delete from idempotency_processed",
                "create unique index by_coordinates on idempotency_processed (record_topic, record_offset)");
        for (int offset = 0; offset < 100; offset++) {
            execute(("insert into idempotency_processed"
                            + " (consumer_id, message_id, record_topic, record_partition, record_offset)"
                            + " values ('other', '%1$d', '%2$s', 0, %1$d)")
                    .formatted(offset, this.topic));
        }
        try {
            send("refused");
            awaitMoreRetriesThanAttempts();
        } finally {
            String table = (this.server == StoreServer.MARIADB) ? " on idempotency_processed" : "";
            execute(
                    "drop index by_coordinates" + table,
                    "delete from idempotency_processed where consumer_id = 'other'");
        }
        assertAppliedOnce("refused");
    }

    /** MariaDB uses a separate error code; the other databases are tested with the schema. */
    @Test
    void aRightThatIsMissingOnMariaDbIsNamed() throws SQLException {
        Assumptions.assumeTrue(this.server == StoreServer.MARIADB);
        String user = "app_" + UUID.randomUUID().toString().substring(0, 8);
        String database = this.url.replaceFirst(".*/([^/?]+)\\?.*", "$1");
        execute(
                "create user " + user + " identified by 'secret'",
                "grant select, update, delete on %s.* to %s".formatted(database, user));
        String userUrl = this.url.replaceFirst("\\?.*", "?user=" + user + "&password=secret");
        assertThatThrownBy(() -> TestApplication.start(userUrl, List.of("idempotency.schema.mode=validate"))
                        .close())
                .hasStackTraceContaining("INSERT command denied")
                .hasStackTraceContaining("may not write the tables of idempotency-spring-boot: (conn=");
        execute("drop user " + user);
    }

    /** Work that follows the statement is not lost. PostgreSQL has no such statements. */
    @Test
    void aStatementThatCommitsTheListenersTransactionLosesNothing(CapturedOutput log) {
        Assumptions.assumeTrue(this.server != StoreServer.POSTGRES);
        send("truncate");
        assertAppliedOnce("truncate");
        this.app.bean(Listeners.class).operate();
        assertThat(this.app.bean(Effects.class).all()).containsOnlyOnce("behind truncate", "behind operation");
        assertThat(log).contains("keep such statements out of listeners").doesNotContain("TransactionLost");
    }

    @Test
    void healthOfALockedTableIsDownAfterTheTimeoutOfAStatement() throws SQLException {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        try (Connection other = connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table idempotency_processed in access exclusive mode");
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
            other.rollback();
        }
        assertThat(health().getStatus()).isNotEqualTo(Status.DOWN);
    }

    @Import(Outcomes.class)
    static class Listeners extends HasEffects {

        private final JdbcTemplate jdbc;

        @Autowired
        private ObjectProvider<IdempotentOperations> operations;

        @Bean
        static IdempotentConsumer operations() {
            return IdempotentConsumer.named("operations");
        }

        Listeners(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table staging (id integer)");
        }

        void operate() {
            this.operations.getObject().execute(MessageId.of("operations", "1"), () -> truncate("operation"));
        }

        private void truncate(String payload) {
            this.jdbc.execute("truncate table staging");
            this.effects.happen("behind " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${topic}")
        @IdempotentListener(value = "records", inbox = "true")
        void onRecord(String payload) {
            this.effects.happen(payload);
            if (payload.equals("truncate")) {
                truncate(payload);
            }
        }
    }
}
