package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Failures of the library's own statements cost no message; a listener's own are not waited for for ever. */
class StoreFailuresIT extends SharedApplicationTest {

    private static final int MAX_ATTEMPTS = 3;

    @BeforeAll
    void start() {
        createTopics(1, "records", "batches", "kept");
        start(
                Listeners.class,
                "spring.datasource.hikari.maximum-pool-size=10",
                "spring.datasource.hikari.connection-timeout=2000",
                "idempotency.cleanup.interval=-",
                "idempotency.errors.initial-interval=20ms",
                "idempotency.errors.max-interval=50ms",
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                "idempotency.errors.outage.max-interval=100ms");
    }

    private List<String> deadLetters(String kind) {
        return TopicContents.values(topic(kind) + "-dlt");
    }

    private Status health() {
        return this.app.bean(IdempotencyHealthIndicator.class).health().getStatus();
    }

    @ParameterizedTest
    @CsvSource({"records, idempotency_processed", "batches, idempotency_processed", "kept, idempotency_inbox"})
    void aTableThatIsGoneIsWaitedForAndCostsNoMessage(String kind, String table) {
        assertWaitedFor(
                kind, "gone", "alter table " + table + " rename to gone", "alter table gone rename to " + table);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches"})
    void aTableThatDoesNotTakeRowsAndDoesNotSaySoIsWaitedForAndCostsNoMessage(String kind) {
        assertWaitedFor(
                kind, "closed", """
                create function take_none() returns trigger language plpgsql as 'begin return null; end';
                create trigger takes_none before insert on idempotency_processed
                    for each row execute function take_none()
                """, "drop trigger takes_none on idempotency_processed; drop function take_none()");
    }

    private void assertWaitedFor(String kind, String what, String fault, String remedy) {
        List<String> payloads = IntStream.range(0, 5)
                .mapToObj(i -> kind + " patient " + what + " " + i)
                .toList();
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        Retries retries = this.app.bean(Retries.class);
        this.app.jdbc().execute(fault);
        try {
            send(kind, payloads.toArray(String[]::new));
            await().atMost(Duration.ofSeconds(30)).until(() -> outages.current().stream()
                    .anyMatch(outage -> outage.consumer().equals(kind)));
            int before = retries.of(kind);
            await().atMost(Duration.ofSeconds(30)).until(() -> retries.of(kind) > before + 3 * MAX_ATTEMPTS);
            assertThat(health()).isEqualTo(Status.DOWN);
        } finally {
            this.app.jdbc().execute(remedy);
        }
        awaitCaughtUp(kind);
        Map<String, Integer> counts = this.app.bean(Effects.class).counts();
        assertThat(payloads).allSatisfy(payload -> assertThat(counts).containsEntry(payload, 1));
        assertThat(deadLetters(kind)).doesNotContainAnyElementsOf(payloads);
        await().until(() -> outages.current().isEmpty());
        assertThat(health()).isNotEqualTo(Status.DOWN);
    }

    @ParameterizedTest
    @CsvSource({"batches, idle", "kept, temporary", "kept, inner"})
    void aMessageWhoseOwnSqlFailsLikeAnOutageIsGivenUpAlone(String kind, String fault) {
        String payload = kind + " " + fault;
        send(kind, payload, kind + " behind " + fault);
        awaitCaughtUp(kind);
        assertThat(deadLetters(kind)).containsOnlyOnce(payload).doesNotContain(kind + " behind " + fault);
        assertThat(effectsOf(kind)).contains(kind + " behind " + fault).doesNotContain(payload);
        Map<String, Object> row = this.app
                .jdbc()
                .queryForMap("select status, attempts from idempotency_inbox where message_id = ?", payload);
        assertThat(row).containsEntry("status", "failed");
        assertThat((Integer) row.get("attempts")).isGreaterThanOrEqualTo(MAX_ATTEMPTS);
    }

    @Test
    void aDatabaseThatTakesNoWritesIsNoMessagesFault() throws Exception {
        String payload = "records replica";
        Retries retries = this.app.bean(Retries.class);
        String database = this.app.jdbc().queryForObject("select current_database()", String.class);
        this.app.jdbc().execute("alter database " + database + " set default_transaction_read_only = on");
        this.database.cutConnections();
        try {
            int before = retries.of("records");
            send("records", payload);
            await().atMost(Duration.ofSeconds(30)).until(() -> retries.of("records") > before + 4 * MAX_ATTEMPTS);
        } finally {
            try (Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                    Statement statement = other.createStatement()) {
                // Not in one call: a transaction is what it was when it began.
                statement.execute("set default_transaction_read_only = off");
                statement.execute("alter database " + database + " reset default_transaction_read_only");
            }
            this.database.cutConnections();
        }
        awaitCaughtUp("records");
        assertThat(deadLetters("records")).doesNotContain(payload);
        assertThat(effectsOf("records")).containsOnlyOnce(payload);
    }

    @Test
    void healthOfALockedTableIsDownAfterTheTimeoutOfAStatement() throws Exception {
        try (Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table idempotency_processed in access exclusive mode");
            assertThat(health()).isEqualTo(Status.DOWN);
            other.rollback();
        }
        assertThat(health()).isNotEqualTo(Status.DOWN);
    }

    @Import({Effects.class, Retries.class})
    static class Listeners {

        private final Effects effects;
        private final JdbcTemplate jdbc;
        private final TransactionTemplate inner;

        Listeners(Effects effects, JdbcTemplate jdbc, PlatformTransactionManager transactions) {
            this.effects = effects;
            this.jdbc = jdbc;
            this.inner = new TransactionTemplate(transactions);
            this.inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            this.inner.setReadOnly(true);
        }

        @KafkaListener(topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener("records")
        void onRecord(String payload) {
            work(payload);
        }

        @KafkaListener(topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener(value = "batches", inbox = "true")
        void onBatch(List<String> payloads) {
            payloads.forEach(this::work);
        }

        @KafkaListener(topics = "kept${suffix}", groupId = "kept${suffix}")
        @IdempotentListener(value = "kept", inbox = "true")
        void onKept(String payload) {
            work(payload);
        }

        private void work(String payload) {
            this.effects.happen(payload);
            switch (payload.substring(payload.indexOf(' ') + 1)) {
                case "idle" -> {
                    this.jdbc.execute("set local idle_in_transaction_session_timeout = '50ms'");
                    await().pollDelay(Duration.ofMillis(300)).until(() -> true);
                    this.effects.happen(payload);
                }
                case "temporary" -> {
                    this.jdbc.execute("set local temp_file_limit = '64kB'; set local work_mem = '64kB'");
                    this.jdbc.execute(
                            "select count(*) from (select g from generate_series(1, 100000) g order by -g) s");
                }
                case "inner" -> this.inner.executeWithoutResult(status -> this.effects.happen(payload));
                default -> {}
            }
        }
    }
}
