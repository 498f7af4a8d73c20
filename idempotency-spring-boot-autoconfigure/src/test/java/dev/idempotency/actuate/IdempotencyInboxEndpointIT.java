package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyInboxEndpointIT {

    private final TestDatabase database = TestPostgres.createDatabase();
    private final String topic = TestKafka.createTopic("inbox", 1);
    private final String group = TestKafka.uniqueName("inbox");
    private TestApplication app;

    @BeforeAll
    void startAndSend() {
        this.app = TestApplication.start(
                this.database,
                List.of(
                        "spring.main.web-application-type=servlet",
                        "server.port=0",
                        "management.endpoints.web.exposure.include=idempotency,idempotencyinbox",
                        "management.endpoint.idempotency.access=unrestricted",
                        "management.endpoint.idempotencyinbox.access=unrestricted",
                        "management.endpoint.idempotencyinbox.show-values=always",
                        "idempotency.errors.initial-interval=1ms",
                        "idempotency.errors.max-attempts=1",
                        "topic=" + this.topic,
                        "group=" + this.group),
                Ledger.class);
        this.app.send(this.topic, "good", "good");
        this.app.send(this.topic, "bad", "bad");
        this.app.send(this.topic, "worse", "worse");
        this.app.awaitCaughtUp(this.group, this.topic);
    }

    @AfterAll
    void stop() {
        this.app.close();
        this.database.close();
    }

    @Test
    void messagesAreListedByStatusConsumerTypeAndTime() {
        assertThat(ids("?status=processed")).contains("good").doesNotContain("worse");
        assertThat(ids("?status=FAILED&consumer=ledger")).contains("worse");
        assertThat(ids("?consumer=nobody")).isEmpty();
        assertThat(ids("?type=java.lang.String")).contains("good", "worse");
        assertThat(ids("?type=other")).isEmpty();
        assertThat(ids("?since=" + Instant.now().plusSeconds(3600))).isEmpty();
        assertThat(ids("?until=" + Instant.now().plusSeconds(3600) + "&since=2026-01-01T00:00:00%2B01:00"))
                .contains("good");
        String page = get("?size=1&page=1").body();
        assertThat(JsonPath.<List<?>>read(page, "$.messages")).hasSize(1);
        assertThat(JsonPath.<Integer>read(page, "$.page")).isOne();
        assertThat(JsonPath.<Boolean>read(page, "$.last")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status=lost",
                "size=0",
                "size=1001",
                "size=many",
                "messageId=good",
                "since=yesterday",
                "since=%2B300000-01-01T00:00:00Z",
                "page=-1",
                "page=2147483647",
                "page=2147483648",
                "page=100&size=1000",
                "type=a%00b",
                "consumer=a%00b",
                "consumer=a%00b&messageId=1"
            })
    void aQuestionThatMakesNoSenseIsRefused(String query) {
        assertThat(get("?" + query).statusCode()).isEqualTo(400);
    }

    @Test
    void allMessagesAreReplayedOnlyIfThatIsAskedForInWords() {
        for (String body : List.of(
                "{'consumer': 'ledger'}",
                "{'consumer': 'ledger', 'messageid': 'worse'}",
                "{'consumer': 'ledger', 'messageId': null}",
                "{'consumer': 'ledger', 'all': false}",
                "{'consumer': 'ledger', 'all': true, 'messageId': 'worse'}",
                "{'consumer': 'ledger', 'all': true, 'forget': true}")) {
            assertThat(post(body).statusCode()).as(body).isEqualTo(400);
        }
        assertThat(post("{\"consumer\": \"nobody\", \"all\": true}").statusCode())
                .isEqualTo(404);
        String worse = get("?consumer=ledger&messageId=worse").body();
        assertThat(JsonPath.<Integer>read(worse, "$.message.replays")).isZero();
    }

    @Test
    void aMessageThatWasForgottenOnRequestIsReplayedAndAppliedOnceMore() {
        this.app.send(this.topic, "twice", "twice");
        this.app.awaitCaughtUp(this.group, this.topic);
        String replay = "{\"consumer\": \"ledger\", \"messageId\": \"twice\"}";
        assertThat(post(replay).statusCode()).isEqualTo(409);
        assertThat(new Actuator(this.app)
                        .delete("/idempotency?consumer=ledger&messageId=twice")
                        .statusCode())
                .isEqualTo(204);
        assertThat(ids("?status=forgotten")).containsExactly("twice");

        assertThat(post(replay).statusCode()).isEqualTo(200);
        this.app.awaitCaughtUp(this.group, this.topic);
        assertThat(this.app.bean(Effects.class).counts()).containsEntry("twice", 2);
        HttpResponse<String> again = post(replay);
        assertThat(again.statusCode()).isEqualTo(409);
        assertThat(JsonPath.<String>read(again.body(), "$.refused")).contains("dropped as a duplicate");
        String found = get("?consumer=ledger&messageId=twice").body();
        assertThat(JsonPath.<String>read(found, "$.message.status")).isEqualTo("processed");
        assertThat(JsonPath.<Integer>read(found, "$.message.attempts")).isEqualTo(2);
        assertThat(JsonPath.<Integer>read(found, "$.message.replays")).isOne();
    }

    @Test
    void aProcessedMessageWhoseIdHasExpiredIsRefusedWithTheReasonThatIsTrue() {
        this.app.jdbc().update("""
                insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                    record_offset, record_headers, attempts)
                values ('ledger', 'expired', 'processed', ?, 0, 0, '', 1)
                """, this.topic);
        HttpResponse<String> refused = post("{\"consumer\": \"ledger\", \"messageId\": \"expired\"}");
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(JsonPath.<String>read(refused.body(), "$.refused"))
                .contains("no longer remembered")
                .doesNotContain("dropped as a duplicate");
    }

    @Test
    void aMessageThatCannotBeSentDoesNotKeepTheOthersFromBeingReplayed() {
        String insert = """
                insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                    record_offset, record_headers, payload, attempts)
                values ('other', ?, 'failed', ?, 0, ?, '', ?, 1)
                """;
        String ignored = TestKafka.createTopic("ignored", 1);
        this.app.jdbc().update(insert, "small", ignored, 0, new byte[10]);
        this.app.jdbc().update(insert, "large", ignored, 1, new byte[2_000_000]);
        this.app.jdbc().update(insert, "next", ignored, 2, new byte[10]);
        HttpResponse<String> response = post("{\"consumer\": \"other\", \"all\": true}");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(JsonPath.<Integer>read(response.body(), "$.sent")).isEqualTo(2);
        assertThat(JsonPath.<Integer>read(response.body(), "$.unsendable")).isOne();
        HttpResponse<String> large = post("{\"consumer\": \"other\", \"messageId\": \"large\"}");
        assertThat(large.statusCode()).isEqualTo(409);
        assertThat(JsonPath.<String>read(large.body(), "$.refused"))
                .contains("Message 'large' of consumer 'other' could not be sent", "RecordTooLarge");
    }

    @Test
    void oneMessageIsShownWithItsPayloadHeadersAndError() {
        String body = get("?consumer=ledger&messageId=worse").body();
        assertThat(JsonPath.<String>read(body, "$.payload.text")).isEqualTo("worse");
        assertThat(JsonPath.<String>read(body, "$.headers[0].name")).isEqualTo("message-id");
        assertThat(JsonPath.<String>read(body, "$.headers[0].value.text")).isEqualTo("worse");
        assertThat(JsonPath.<String>read(body, "$.message.status")).isEqualTo("failed");
        assertThat(JsonPath.<Integer>read(body, "$.message.attempts")).isOne();
        assertThat(JsonPath.<String>read(body, "$.message.lastError")).contains("told to fail", "\tat ");
        assertThat(JsonPath.<String>read(body, "$.message.record.topic")).isEqualTo(this.topic);
        assertThat(get("?consumer=ledger&messageId=unknown").statusCode()).isEqualTo(404);
        String listed = get("?status=failed").body();
        assertThat(JsonPath.<List<String>>read(listed, "$.messages[?(@.messageId == 'worse')].lastError"))
                .containsExactly("java.lang.IllegalStateException: told to fail");
    }

    @Test
    void messagesAreReplayedOnRequest(CapturedOutput output) {
        assertThat(post("{\"consumer\": \"ledger\", \"messageId\": \"unknown\"}")
                        .statusCode())
                .isEqualTo(404);
        HttpResponse<String> processed = post("{\"consumer\": \"ledger\", \"messageId\": \"good\"}");
        assertThat(processed.statusCode()).isEqualTo(409);
        assertThat(JsonPath.<String>read(processed.body(), "$.refused")).contains("has been processed");
        assertThat(post("{\"consumer\": \"ledger\", \"forget\": true}").statusCode())
                .isEqualTo(400);

        HttpResponse<String> replayed = post("{\"consumer\": \"ledger\", \"messageId\": \"bad\"}");
        assertThat(replayed.statusCode()).isEqualTo(200);
        assertThat(JsonPath.<Integer>read(replayed.body(), "$.sent")).isOne();
        awaitEffects("good", "bad");

        HttpResponse<String> forgotten = post("{\"consumer\": \"ledger\", \"messageId\": \"good\", \"forget\": true}");
        assertThat(forgotten.statusCode()).isEqualTo(200);
        awaitEffects("good", "good", "bad");
        assertThat(output).contains("for consumer 'ledger': replay of message 'good', even if processed");
    }

    /** Of these names alone. */
    private void awaitEffects(String... names) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                        this.app.bean(Effects.class).all())
                .filteredOn(Arrays.asList(names)::contains)
                .containsExactlyInAnyOrder(names));
    }

    private List<String> ids(String query) {
        HttpResponse<String> response = get(query);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonPath.read(response.body(), "$.messages[*].messageId");
    }

    private HttpResponse<String> get(String query) {
        return new Actuator(this.app).get("/idempotencyinbox" + query);
    }

    private HttpResponse<String> post(String body) {
        return new Actuator(this.app).post("/idempotencyinbox", body);
    }

    @Import(Effects.class)
    static class Ledger {

        private final Effects effects;
        private boolean failed;

        Ledger(Effects effects) {
            this.effects = effects;
        }

        /** Fails always at one message, and at the other for the first time. */
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "ledger", inbox = "true")
        void on(String payload) {
            this.effects.happen(payload);
            boolean first = payload.equals("bad") && !this.failed;
            this.failed |= first;
            if (first || payload.equals("worse")) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
