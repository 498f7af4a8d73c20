package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Status;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

class PostgresFailuresIT extends AbstractStoreFailuresIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        TestKafka.createTopics(1, this.topic + "-kept");
        return adminUrl();
    }

    @Override
    String adminUrl() {
        return this.database.jdbcUrl();
    }

    @Override
    Class<?> listeners() {
        return WithInbox.class;
    }

    @AfterAll
    void dropDatabase() {
        this.database.close();
    }

    private void awaitKept(String payload) {
        this.app.send(this.topic + "-kept", payload, payload);
        this.app.awaitCaughtUp(this.topic + "-kept", this.topic + "-kept");
    }

    @Test
    void anInboxThatIsGoneIsWaitedForAndCostsNoMessage() throws SQLException {
        asAdmin("alter table idempotency_inbox rename to gone");
        try {
            this.app.send(this.topic + "-kept", "patient", "patient");
            Retries retries = this.app.bean(Retries.class);
            await().until(() -> retries.of("kept") > 2 * MAX_ATTEMPTS);
        } finally {
            asAdmin("alter table gone rename to idempotency_inbox");
        }
        awaitKept("behind the inbox");
        assertThat(this.app.bean(Effects.class).counts()).containsEntry("kept patient", 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle", "temporary", "inner"})
    void aMessageWhoseOwnSqlFailsLikeAnOutageIsGivenUpAloneAndStandsInTheInbox(String fault) {
        this.app.send(this.topic + "-kept", fault, fault);
        awaitKept("behind " + fault);
        assertThat(TopicContents.values(this.topic + "-kept-dlt")).containsOnlyOnce(fault);
        assertThat(this.app.bean(Effects.class).all())
                .contains("kept behind " + fault)
                .doesNotContain("kept " + fault);
        Map<String, Object> row = this.app
                .jdbc()
                .queryForMap("select status, attempts from idempotency_inbox where message_id = ?", fault);
        assertThat(row).containsEntry("status", "failed");
        assertThat((Integer) row.get("attempts")).isGreaterThanOrEqualTo(MAX_ATTEMPTS);
    }

    @Test
    void aDatabaseThatTakesNoWritesIsNoMessagesFault() throws SQLException {
        String database = this.app.jdbc().queryForObject("select current_database()", String.class);
        asAdmin("alter database " + database + " set default_transaction_read_only = on");
        this.database.cutConnections();
        try {
            send("replica");
            awaitMoreRetriesThanAttempts();
        } finally {
            asAdmin(
                    "set default_transaction_read_only = off",
                    "alter database " + database + " reset default_transaction_read_only");
            this.database.cutConnections();
        }
        assertAppliedOnce("replica");
    }

    @Test
    void healthOfALockedTableIsDownAfterTheTimeoutOfAStatement() throws SQLException {
        try (Connection other = DriverManager.getConnection(adminUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table idempotency_processed in access exclusive mode");
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
            other.rollback();
        }
        assertThat(health().getStatus()).isNotEqualTo(Status.DOWN);
    }

    static class WithInbox extends Listeners {

        private final TransactionTemplate inner;

        WithInbox(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
            super(jdbc);
            this.inner = new TransactionTemplate(transactions);
            this.inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            this.inner.setReadOnly(true);
        }

        @Override
        void deposit() {
            this.jdbc.execute("set local lock_timeout = '200ms'");
            super.deposit();
        }

        @KafkaListener(topics = "${topic}-kept", groupId = "${topic}-kept")
        @IdempotentListener(value = "kept", inbox = "true")
        void onKept(String payload) {
            this.effects.happen("kept " + payload);
            switch (payload) {
                case "idle" -> {
                    Integer session = this.jdbc.queryForObject("select pg_backend_pid()", Integer.class);
                    this.jdbc.execute("set local idle_in_transaction_session_timeout = '50ms'");
                    await().until(() -> this.inner
                            .execute(status ->
                                    this.jdbc.queryForList("select pid from pg_stat_activity where pid = ?", session))
                            .isEmpty());
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
