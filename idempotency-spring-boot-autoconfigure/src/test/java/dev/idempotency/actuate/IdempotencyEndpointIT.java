package dev.idempotency.actuate;

import static dev.idempotency.app.Actuator.encoded;
import static dev.idempotency.app.ObservedApplication.BILLING;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Actuator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.app.TestApplication;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@ExtendWith({ObservedApplication.Shared.class, OutputCaptureExtension.class})
class IdempotencyEndpointIT {

    private final ObservedApplication app;
    private final Actuator actuator;

    IdempotencyEndpointIT(ObservedApplication app) {
        this.app = app;
        this.actuator = app.actuator();
    }

    @Test
    void theListHasEveryConsumerWithItsListenerTopicsKeySourceAndRetention() {
        String body = this.actuator.ok("/idempotency");
        Map<String, Object> billing = consumer(body, BILLING);
        assertThat(billing)
                .containsEntry("listeners", List.of("Listeners.billing"))
                .containsEntry("topics", List.of(this.app.billingTopic()))
                .containsEntry("keySource", "headers [idempotency-key, message-id, ce_id, id]")
                .containsEntry("retention", "PT720H");
        assertThat(JsonPath.<Map<String, Object>>read(
                        this.actuator.ok("/idempotency?consumer=" + encoded(this.app.stockConsumer())), "$"))
                .containsEntry("listeners", List.of("Listeners.stock"))
                .containsEntry("topics", List.of(this.app.stockTopic()))
                .containsEntry("retention", "PT168H");
    }

    @Test
    void theMetersOfAConsumerAreInItsReport() {
        Map<String, Object> before = consumer(this.actuator.ok("/idempotency"), BILLING);
        String id = unique();
        this.app.bill(id, "once");
        this.app.bill(id, "once, with another payload");
        this.app.bill(unique(), "fail");
        this.app.bill("", "no key");
        String body = this.actuator.ok("/idempotency?consumer=" + BILLING);
        assertThat(List.of("messages.processed", "messages.duplicate", "messages.failed", "messages.missing_key"))
                .allSatisfy(name ->
                        assertThat(count(body, name) - count(before, name)).isOne());
        assertThat(count(body, "hits.republication") - count(before, "hits.republication"))
                .isOne();
        assertThat(JsonPath.<Integer>read(body, "$.conflicts") - (int) before.get("conflicts"))
                .isOne();
        assertThat(Duration.parse(JsonPath.read(body, "$.oldestAge"))).isPositive();
    }

    @Test
    void aConsumerThatDoesNotExistIsNotFound() {
        this.actuator.get("/idempotency?consumer=nobody", 404);
        this.actuator.get("/idempotency?consumer=nobody&messageId=1", 404);
    }

    @Test
    void theSizeOfTheTableAndTheLastCleanupAreReported() {
        this.app.bill(unique(), "counted");
        CleanupRun run = this.app.cleanUp(limit -> 17);
        Awaitility.await().untilAsserted(() -> {
            this.app.application().jdbc().execute("analyze idempotency_processed");
            Integer rows = JsonPath.read(this.actuator.ok("/idempotency"), "$.store.rows");
            assertThat(rows)
                    .isEqualTo(this.app
                            .application()
                            .jdbc()
                            .queryForObject("select count(*) from idempotency_processed", Integer.class));
        });
        String body = this.actuator.ok("/idempotency");
        assertThat(JsonPath.<Integer>read(body, "$.cleanup.lastRun.deleted")).isEqualTo(17);
        assertThat(JsonPath.<String>read(body, "$.cleanup.lastRun.took"))
                .isEqualTo(run.took().toString());
        assertThat(JsonPath.<String>read(body, "$.cleanup.lastRun.at"))
                .isEqualTo(run.at().toString());
        assertThat(JsonPath.<Boolean>read(body, "$.cleanup.lastRun.keepsUp")).isTrue();
        assertThat(JsonPath.<Map<String, Object>>read(body, "$.cleanup")).containsOnlyKeys("lastRun", "failure");
        assertThat(JsonPath.<Map<String, Object>>read(body, "$.cleanup.lastRun"))
                .containsOnlyKeys("at", "took", "deleted", "keepsUp");
    }

    @Test
    void aMessageTellsWhetherWhenAndByWhichRecordItWasProcessed() {
        String id = unique();
        String path = pathOf(id);
        assertThat(JsonPath.<Boolean>read(this.actuator.ok(path), "$.processed"))
                .isFalse();
        this.app.bill(id, "seen");
        String body = this.actuator.ok(path);
        assertThat(JsonPath.<Boolean>read(body, "$.processed")).isTrue();
        assertThat(JsonPath.<String>read(body, "$.messageId")).isEqualTo(id);
        assertThat(JsonPath.<String>read(body, "$.processedAt")).endsWith("Z");
        assertThat(JsonPath.<String>read(body, "$.record.topic")).isEqualTo(this.app.billingTopic());
        assertThat(JsonPath.<Integer>read(body, "$.record.offset")).isNotNegative();
    }

    @Test
    void aStepOfUnknownOutcomeIsShownAndSettled(CapturedOutput output) {
        String id = unique();
        this.app
                .application()
                .jdbc()
                .update(
                        "insert into idempotency_step (consumer_id, message_id, step_name, status) values (?, ?, ?, ?)",
                        BILLING,
                        id,
                        "mail",
                        "started");
        assertThat(JsonPath.<String>read(this.actuator.ok(pathOf(id)), "$.steps.mail"))
                .isEqualTo("started");
        String request = "{'consumer': '" + BILLING + "', 'messageId': '" + id + "', 'step': '%s', 'outcome': '%s'}";
        this.actuator.post("/idempotency", request.formatted("mail", "perhaps"), 400);
        this.actuator.post("/idempotency", request.formatted("other", "done"), 404);
        this.actuator.post("/idempotency", request.formatted("mail", "done"), 204);
        assertThat(JsonPath.<String>read(this.actuator.ok(pathOf(id)), "$.steps.mail"))
                .isEqualTo("done");
        this.actuator.post("/idempotency", request.formatted("mail", "not-done"), 404);
        assertThat(output).contains("settled step 'mail' of message '" + id + "' as done");
    }

    static Stream<String> strangeIds() {
        return Stream.of(
                "a/b",
                "/leading//and/../dots/",
                "ünïcödé ✓ 漢字 😀",
                "quotes ' \" ` and ; -- \\ backslash",
                "100% a+b&c=d?e#f{g}[h]|<i>",
                "line break\nFORGED\tand tab",
                "NUL \0 in a header",
                "hex:6162",
                "x".repeat(300),
                "sha256:" + "0".repeat(64));
    }

    @ParameterizedTest
    @MethodSource("strangeIds")
    void anIdWithAnyCharactersIsFoundAndForgottenAndItsMessageIsProcessedAgain(String strange, CapturedOutput output) {
        String payload = unique();
        String id = strange + payload;
        this.app.stock(id, payload);
        String query =
                "/idempotency?consumer=%s&messageId=%s".formatted(encoded(this.app.stockConsumer()), encoded(id));
        assertThat(JsonPath.<Boolean>read(this.actuator.ok(query), "$.processed"))
                .isTrue();
        this.actuator.delete(query, 204);
        assertThat(JsonPath.<Boolean>read(this.actuator.ok(query), "$.processed"))
                .isFalse();
        assertThat(output.toString().lines())
                .anyMatch(line -> line.contains("for consumer '" + this.app.stockConsumer() + "': forgot message '"))
                .noneMatch(line -> line.startsWith("FORGED"));
        this.app.stock(id, payload);
        assertThat(this.app.application().bean(Effects.class).counts()).containsEntry(payload, 2);
    }

    @Test
    void aLongIdIsFoundByTheDigestUnderWhichItIsStored() {
        String id = "y".repeat(300) + unique();
        this.app.bill(id, "long");
        String stored = JsonPath.read(this.actuator.ok(pathOf(id)), "$.messageId");
        assertThat(stored).startsWith("sha256:");
        assertThat(JsonPath.<Boolean>read(this.actuator.ok(pathOf(stored)), "$.processed"))
                .isTrue();
    }

    @Test
    void aConsumerThatGoesByOffsetsShowsItsPositionsWhichCanBeForgotten(CapturedOutput output) {
        this.app.stock(unique(), "archived");
        Awaitility.await().untilAsserted(() -> assertThat(JsonPath.<List<Map<String, Object>>>read(
                        this.actuator.ok("/idempotency?consumer=archive"), "$.positions"))
                .singleElement()
                .satisfies(position -> assertThat(position)
                        .containsEntry("topic", this.app.stockTopic())
                        .containsEntry("partition", 0)
                        .containsKeys("nextOffset", "topicId", "processedAt")));
        assertThat(consumer(this.actuator.ok("/idempotency"), "archive"))
                .containsEntry("strategy", "OFFSET")
                .containsEntry("retention", null);
        String position = "/idempotency?consumer=archive&topic=%s&partition=".formatted(this.app.stockTopic());
        this.actuator.delete(position + "1", 404);
        this.actuator.delete("/idempotency?consumer=archive&topic=%00&partition=0", 404);
        this.actuator.delete(position + "0", 204);
        assertThat(output).contains("for consumer 'archive': forgot the position in ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET ?consumer=billing&messageId=%20",
                "GET ?messageId=1",
                "GET ?consumer=a%00b&messageId=1",
                "DELETE ?consumer=a%00b&messageId=1",
                "DELETE ?consumer=billing",
                "DELETE ?consumer=archive&topic=stock",
                "DELETE ?consumer=archive&topic=stock&partition=zero",
                "DELETE ?consumer=archive&topic=stock&partition=0&messageId=1"
            })
    void aRequestThatMakesNoSenseIsRefused(String request) {
        String path = "/idempotency" + request.split(" ")[1];
        if (request.startsWith("GET")) {
            this.actuator.get(path, 400);
        } else {
            this.actuator.delete(path, 400);
        }
    }

    @AfterEach
    void mend() {
        this.app.cleanUp(limit -> 0);
    }

    @Test
    void allIsWellWhenTheStoreAnswersItsSchemaIsUpToDateAndTheCleanupKeepsUp() {
        this.app.cleanUp(limit -> 5);

        assertThat(health("$.status")).isEqualTo("UP");
        assertThat(health("$.details.store")).isEqualTo("reachable");
        assertThat(health("$.details.schema")).isEqualTo("up to date");
        assertThat(JsonPath.<Integer>read(this.actuator.ok("/health/idempotency"), "$.details.lastCleanup.deleted"))
                .isEqualTo(5);
    }

    @Test
    void aCleanupThatFailsOrDoesNotKeepUpDegradesItUntilOneSucceedsButNotTheApplication() {
        this.app.cleanUp(limit -> limit);
        assertDegraded();
        this.app.cleanUp(limit -> {
            throw new IllegalStateException("permission denied");
        });
        assertDegraded();
        assertThat(health("$.details.cleanupFailure.reason")).contains("permission denied");
        this.app.cleanUp(limit -> 0);
        assertThat(health("$.status")).isEqualTo("UP");
    }

    private String health(String path) {
        return JsonPath.read(this.actuator.ok("/health/idempotency"), path);
    }

    private void assertDegraded() {
        assertThat(health("$.status")).isEqualTo("DEGRADED");
        assertThat(JsonPath.<String>read(this.actuator.ok("/health"), "$.status"))
                .isEqualTo("UP");
    }

    @Test
    void aSchemaThatIsNotAtTheExpectedVersionIsDown() {
        this.app
                .application()
                .jdbc()
                .execute("alter table idempotency_processed rename column record_topic to topic_of_old");
        try {
            assertThat(JsonPath.<String>read(this.actuator.get("/health/idempotency", 503), "$.details.schema"))
                    .contains("missing", "idempotency_processed");
        } finally {
            this.app
                    .application()
                    .jdbc()
                    .execute("alter table idempotency_processed rename column topic_of_old to record_topic");
        }
    }

    private static String pathOf(String id) {
        return "/idempotency?consumer=%s&messageId=%s".formatted(BILLING, encoded(id));
    }

    private static String unique() {
        return UUID.randomUUID().toString();
    }

    private static Map<String, Object> consumer(String body, String name) {
        List<Map<String, Object>> all = JsonPath.read(body, "$.consumers[*]");
        return all.stream()
                .filter(consumer -> name.equals(consumer.get("consumer")))
                .findFirst()
                .orElseThrow(() -> new AssertionError("No consumer " + name + " in " + body));
    }

    private static int count(Object json, String name) {
        return (json instanceof String text) ? JsonPath.read(text, "$." + name) : JsonPath.read(json, "$." + name);
    }

    @Test
    void withConnectionsThatDoNotCommitByThemselvesMessagesAreForgotten() throws Exception {
        try (TestDatabase database = TestPostgres.createDatabase();
                TestApplication app = TestApplication.start(
                        database,
                        List.of(
                                TestApplication.WEB,
                                "spring.datasource.hikari.auto-commit=false",
                                "management.endpoint.idempotency.access=unrestricted",
                                "management.endpoint.idempotencyinbox.access=unrestricted",
                                "idempotency.cleanup.enabled=false",
                                "topic=" + TestKafka.createTopic("access", 1)),
                        Twins.class)) {
            Actuator actuator = new Actuator(app, null);
            insertProcessed(app, "billing", "1");
            insertProcessed(app, "billing", "eu/1");
            insertProcessed(app, "billing/eu", "1");
            String first = "/idempotency?consumer=billing&messageId=1";
            actuator.delete(first, 204);
            actuator.delete(first, 404);
            assertThat(app.bean(Cleanup.class).run().failed()).isFalse();
            actuator.delete("/idempotency?consumer=billing/eu&messageId=1", 204);
            actuator.delete("/idempotency?consumer=billing&messageId=eu%2F1", 204);
            assertThat(count(database)).isZero();
        }
    }

    private static void insertProcessed(TestApplication app, String consumer, String id) {
        new TransactionTemplate(app.bean(PlatformTransactionManager.class)).executeWithoutResult(status -> app.jdbc()
                .update(
                        "insert into idempotency_processed (consumer_id, message_id, record_topic,"
                                + " record_partition, record_offset) values (?, ?, 'bills', 0, 0)",
                        consumer,
                        id));
    }

    /** On a connection of its own, so that only what is committed counts. */
    private static int count(TestDatabase database) {
        return new JdbcTemplate(new DriverManagerDataSource(database.jdbcUrl()))
                .queryForObject("select count(*) from idempotency_processed", Integer.class);
    }

    static class Twins {

        @KafkaListener(topics = "${topic}", groupId = "billing", autoStartup = "false")
        @IdempotentListener(consumer = "billing")
        void billing(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "eu", autoStartup = "false")
        @IdempotentListener(consumer = "billing/eu")
        void eu(String payload) {}
    }
}
