package dev.idempotency.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.Cleanup.CleanupStatus;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;

/** The cleanup of a running application, beside its listeners. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class CleanupIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String topic = TestKafka.createTopic("cleanup", 1);
    private final String group = TestKafka.uniqueName("group");
    private final TestDatabase database = TestPostgres.createDatabase();
    private TestApplication app;
    private JdbcTemplate jdbc;

    @BeforeAll
    void startApplication() {
        this.app = start(List.of(), Ledger.class);
        // Not through the application's pool, which may hold connections that were cut and have not been found out yet.
        this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
    }

    @AfterAll
    void stopApplication() {
        this.app.close();
        this.database.close();
    }

    @Test
    void everyConsumerRemembersForAsLongAsItSaysAndAnAbandonedOneUntilItsTime() {
        given("patient", "patient-31", 31);
        given("patient", "patient-8", 8);
        given("ordinary", "ordinary-8", 8);
        given("ordinary", "ordinary-6", 6);
        given("gone", "gone-31", 31);
        // In this order: without the later one, the consumer would be abandoned until it comes.
        given("elsewhere", "elsewhere-29", 29);
        given("elsewhere", "elsewhere-31", 31);
        this.app.send(this.topic, "now", "activity");
        awaitCaughtUp();
        awaitRemoved("patient-31", "ordinary-8", "gone-31");
        assertThat(this.jdbc.queryForList("select message_id from idempotency_processed", String.class))
                .contains("patient-8", "ordinary-6", "elsewhere-31", "elsewhere-29", "now");
    }

    @Test
    void messagesOfTheInboxThatAnotherApplicationKeepsForLongerAreNotForgottenHere() {
        givenInbox("ordinary", "failed-31", 31);
        givenInbox("ordinary", "failed-29", 29);
        givenInbox("abandoned", "abandoned-31", 31);
        given("another", "another-1", 1);
        givenInbox("another", "another-365", 365);
        givenInbox("failing", "failing-29", 29);
        givenInbox("failing", "failing-365", 365);
        await().atMost(PATIENCE).until(() -> inbox().stream().noneMatch(Set.of("failed-31", "abandoned-31")::contains));
        assertThat(inbox()).contains("failed-29", "another-365", "failing-365", "failing-29");
    }

    private List<String> inbox() {
        return this.jdbc.queryForList("select message_id from idempotency_inbox", String.class);
    }

    private void givenInbox(String consumer, String id, int daysAgo) {
        this.jdbc.update("""
                insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                    record_offset, record_headers, attempts, updated_at)
                values (?, ?, 'failed', 'topic', 0, 0, '', 1, current_timestamp - ? * interval '1 day')
                """, consumer, id, daysAgo);
    }

    @Test
    void whatACleanupCannotDoTouchesNoListenerAndIsTriedAgain(CapturedOutput output) {
        this.app.send(this.topic, "before", "before");
        awaitCaughtUp();
        refuseDeletes();
        given("ordinary", "cannot-go", 8);
        given("ordinary", "stays-meanwhile", 5);
        long failures = status().failures();
        await().atMost(PATIENCE).until(() -> status().failures() >= failures + 3);
        this.app.send(this.topic, "meanwhile", "processed as ever");
        awaitCaughtUp();
        assertThat(this.app.bean(Effects.class).counts()).containsEntry("processed as ever", 2);
        assertThat(status().keepsUp()).isFalse();
        this.jdbc.execute("drop trigger refuse_deletes on idempotency_processed");
        awaitRemoved("cannot-go");
        await().atMost(PATIENCE).until(() -> status().keepsUp());
        assertThat(output).contains("Old rows could not be removed");
    }

    @Test
    void twoRetentionsForOneConsumerFailTheStart() {
        assertThatThrownBy(() -> start(List.of(), TwoMinds.class))
                .rootCause()
                .hasMessageContaining("'two-minds'")
                .hasMessageContaining("PT24H")
                .hasMessageContaining("PT48H");
    }

    private TestApplication start(List<String> properties, Class<?>... classes) {
        List<String> all = Stream.concat(
                        Stream.of(
                                "topic=" + this.topic,
                                "group=" + this.group,
                                "spring.datasource.hikari.connection-timeout=5000",
                                "idempotency.cleanup.interval=100ms"),
                        properties.stream())
                .toList();
        return TestApplication.start(this.database, all, classes);
    }

    private void awaitCaughtUp() {
        this.app.awaitCaughtUp(this.group, this.topic);
        this.app.awaitCaughtUp(this.group + "-patient", this.topic);
    }

    private CleanupStatus status() {
        return this.app.bean(Cleanup.class).status();
    }

    private void awaitRemoved(String... ids) {
        for (String id : ids) {
            await("removal of " + id).atMost(PATIENCE).ignoreExceptions().until(() -> this.jdbc
                    .queryForList("select message_id from idempotency_processed where message_id = ?", String.class, id)
                    .isEmpty());
        }
    }

    private void given(String consumer, String id, int daysAgo) {
        this.jdbc.update("""
                insert into idempotency_processed
                    (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                values (?, ?, current_timestamp - ? * interval '1 day', 'topic', 0, 0)
                """, consumer, id, daysAgo);
    }

    private void refuseDeletes() {
        this.jdbc.execute("""
                create or replace function refuse_deletes() returns trigger language plpgsql as
                $$ begin raise insufficient_privilege using message = 'permission denied'; end $$
                """);
        this.jdbc.execute("""
                create trigger refuse_deletes before delete on idempotency_processed
                for each statement execute function refuse_deletes()
                """);
    }

    static class Ledger extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener("ordinary")
        void ordinary(String payload) {
            this.effects.happen(payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-patient")
        @IdempotentListener(consumer = "patient", retention = "30d")
        void patient(String payload) {
            this.effects.happen(payload);
        }
    }

    @KafkaListener(topics = "${topic}", groupId = "${group}-two-minds")
    static class TwoMinds {

        @KafkaHandler
        @IdempotentListener(consumer = "two-minds", retention = "1d")
        void on(String payload) {}

        @KafkaHandler
        @IdempotentListener(consumer = "two-minds", retention = "2d")
        void on(Integer payload) {}
    }
}
