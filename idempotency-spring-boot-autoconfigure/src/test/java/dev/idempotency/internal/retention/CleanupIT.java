package dev.idempotency.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;

/** The cleanup of a running application. Rows are named after their consumer and their age in days. */
class CleanupIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "ordinary", "patient");
        start(Listeners.class, "idempotency.cleanup.interval=100ms");
    }

    @Test
    void everyConsumerRemembersForAsLongAsItSaysAndAnAbandonedOneUntilItsTime() {
        given("patient-31 patient-8 patient-0 ordinary-8 ordinary-6 ordinary-0 gone-31 elsewhere-31 elsewhere-29");
        await().untilAsserted(() -> assertThat(left("processed"))
                .contains("patient-8", "ordinary-6", "elsewhere-31", "elsewhere-29")
                .doesNotContain("patient-31", "ordinary-8", "gone-31"));
    }

    @Test
    void messagesOfTheInboxThatAnotherApplicationKeepsForLongerAreNotForgottenHere() {
        given("another-1");
        givenInInbox("ordinary-31 ordinary-29 abandoned-31 another-365 failing-365 failing-29");
        await().untilAsserted(() -> assertThat(left("inbox"))
                .containsExactlyInAnyOrder("ordinary-29", "another-365", "failing-365", "failing-29"));
    }

    @Test
    void twoRetentionsForOneConsumerFailTheStart() {
        assertThatThrownBy(() -> TestApplication.start(this.database, List.of(), TwoMinds.class))
                .rootCause()
                .hasMessageContainingAll("'two-minds'", "PT24H", "PT48H");
    }

    private List<String> left(String table) {
        return this.app.jdbc().queryForList("select message_id from idempotency_" + table, String.class);
    }

    private void given(String rows) {
        this.app.jdbc().update("""
                insert into idempotency_processed
                    (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                select split_part(name, '-', 1), name, now() - split_part(name, '-', 2)::int * interval '1 day', 't', 0, 0
                from string_to_table(?, ' ') as name
                """, rows);
    }

    private void givenInInbox(String rows) {
        this.app.jdbc().update("""
                insert into idempotency_inbox (consumer_id, message_id, updated_at, status, record_topic, record_partition,
                    record_offset, record_headers, attempts)
                select split_part(name, '-', 1), name, now() - split_part(name, '-', 2)::int * interval '1 day', 'failed',
                    't', 0, 0, '', 1
                from string_to_table(?, ' ') as name
                """, rows);
    }

    static class Listeners {

        @OfKind("ordinary")
        void ordinary(String payload) {}

        @OfKind(value = "patient", retention = "30d")
        void patient(String payload) {}
    }

    @KafkaListener(topics = "two-minds", groupId = "two-minds")
    static class TwoMinds {

        @KafkaHandler
        @IdempotentListener(consumer = "two-minds", retention = "1d")
        void on(String payload) {}

        @KafkaHandler
        @IdempotentListener(consumer = "two-minds", retention = "2d")
        void on(Integer payload) {}
    }
}
