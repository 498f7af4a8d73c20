package dev.idempotency.actuate;

import static dev.idempotency.app.ObservedApplication.BILLING;
import static dev.idempotency.app.ObservedApplication.encoded;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.Effects;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.retention.CleanupRun;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith({ObservedApplication.Shared.class, OutputCaptureExtension.class})
class IdempotencyEndpointIT {

    private final ObservedApplication app;

    IdempotencyEndpointIT(ObservedApplication app) {
        this.app = app;
    }

    @Test
    void theListHasEveryConsumerWithItsListenerTopicsKeySourceAndRetention() {
        String body = ok("/idempotency");
        Map<String, Object> billing = consumer(body, BILLING);
        assertThat(billing)
                .containsEntry("listeners", List.of("Listeners.billing"))
                .containsEntry("topics", List.of(this.app.billingTopic()))
                .containsEntry("keySource", "headers [idempotency-key, message-id, ce_id, id]")
                .containsEntry("retention", "PT720H");
        assertThat(JsonPath.<Map<String, Object>>read(
                        ok("/idempotency?consumer=" + encoded(this.app.stockConsumer())), "$"))
                .containsEntry("listeners", List.of("Listeners.stock"))
                .containsEntry("topics", List.of(this.app.stockTopic()))
                .containsEntry("retention", "PT168H");
    }

    @Test
    void theMetersOfAConsumerAreInItsReport() {
        Map<String, Object> before = consumer(ok("/idempotency"), BILLING);
        String id = unique();
        this.app.bill(id, "once");
        this.app.bill(id, "once, with another payload");
        this.app.bill(unique(), "fail");
        this.app.bill("", "no key");
        String body = ok("/idempotency?consumer=" + BILLING);
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
        assertThat(this.app.get("/idempotency?consumer=nobody").statusCode()).isEqualTo(404);
        assertThat(this.app.get("/idempotency?consumer=nobody&messageId=1").statusCode())
                .isEqualTo(404);
    }

    @Test
    void theSizeOfTheTableAndTheLastCleanupAreReported() {
        this.app.bill(unique(), "counted");
        CleanupRun run = this.app.cleanUp(limit -> 17);
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            this.app.application().jdbc().execute("analyze idempotency_processed");
            Integer rows = JsonPath.read(ok("/idempotency"), "$.store.rows");
            assertThat(rows)
                    .isEqualTo(this.app
                            .application()
                            .jdbc()
                            .queryForObject("select count(*) from idempotency_processed", Integer.class));
        });
        String body = ok("/idempotency");
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
        assertThat(JsonPath.<Boolean>read(ok(path), "$.processed")).isFalse();
        this.app.bill(id, "seen");
        String body = ok(path);
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
        assertThat(JsonPath.<String>read(ok(pathOf(id)), "$.steps[0].status")).isEqualTo("started");
        Actuator actuator = new Actuator(this.app.application());
        String request = "{'consumer': '" + BILLING + "', 'messageId': '" + id + "', 'step': '%s', 'outcome': '%s'}";
        Actuator.body(actuator.post("/idempotency", request.formatted("mail", "perhaps")), 400);
        Actuator.body(actuator.post("/idempotency", request.formatted("other", "done")), 404);
        Actuator.body(actuator.post("/idempotency", request.formatted("mail", "done")), 204);
        assertThat(JsonPath.<String>read(ok(pathOf(id)), "$.steps[0].status")).isEqualTo("done");
        assertThat(JsonPath.<String>read(ok(pathOf(id)), "$.steps[0].name")).isEqualTo("mail");
        Actuator.body(actuator.post("/idempotency", request.formatted("mail", "not-done")), 404);
        assertThat(output).contains("settled step 'mail' of message '" + id + "' as done");
    }

    static Stream<String> strangeIds() {
        return Stream.of(
                "a/b",
                "/leading//and/../dots/",
                "ünïcödé ✓ 漢字 😀",
                "quotes ' \" ` and ; -- \\ backslash",
                "100% a+b&c=d?e#f{g}[h]|<i>",
                "line\nbreak\tand tab",
                "NUL \0 in a header",
                "hex:6162",
                "x".repeat(300),
                "sha256:" + "0".repeat(64));
    }

    @ParameterizedTest
    @MethodSource("strangeIds")
    void anIdWithAnyCharactersIsFoundAndForgotten(String strange) {
        String id = strange + unique();
        this.app.stock(id, "strange");
        String query =
                "/idempotency?consumer=%s&messageId=%s".formatted(encoded(this.app.stockConsumer()), encoded(id));
        assertThat(JsonPath.<Boolean>read(ok(query), "$.processed")).isTrue();
        assertThat(this.app.delete(query).statusCode()).isEqualTo(204);
        assertThat(JsonPath.<Boolean>read(ok(query), "$.processed")).isFalse();
    }

    @Test
    void aLongIdIsFoundByTheDigestUnderWhichItIsStored() {
        String id = "y".repeat(300) + unique();
        this.app.bill(id, "long");
        String stored = JsonPath.read(ok(pathOf(id)), "$.messageId");
        assertThat(stored).startsWith("sha256:");
        assertThat(JsonPath.<Boolean>read(ok(pathOf(stored)), "$.processed")).isTrue();
    }

    @Test
    void aConsumerThatGoesByOffsetsShowsItsPositionsWhichCanBeForgotten(CapturedOutput output) {
        this.app.stock(unique(), "archived");
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                        JsonPath.<List<Map<String, Object>>>read(ok("/idempotency?consumer=archive"), "$.positions"))
                .singleElement()
                .satisfies(position -> assertThat(position)
                        .containsEntry("topic", this.app.stockTopic())
                        .containsEntry("partition", 0)
                        .containsKeys("nextOffset", "topicId", "processedAt")));
        assertThat(consumer(ok("/idempotency"), "archive"))
                .containsEntry("strategy", "OFFSET")
                .containsEntry("retention", null);
        String position = "/idempotency?consumer=archive&topic=%s&partition=".formatted(this.app.stockTopic());
        assertThat(this.app.delete(position + "1").statusCode()).isEqualTo(404);
        assertThat(this.app
                        .delete("/idempotency?consumer=archive&topic=%00&partition=0")
                        .statusCode())
                .isEqualTo(404);
        assertThat(this.app.delete(position + "0").statusCode()).isEqualTo(204);
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
        assertThat((request.startsWith("GET") ? this.app.get(path) : this.app.delete(path)).statusCode())
                .isEqualTo(400);
    }

    @Test
    void aMessageThatWasForgottenIsProcessedAgainAndTheLogSaysWhoAskedForIt(CapturedOutput output) {
        String id = unique();
        String payload = "again " + id;
        this.app.bill(id, payload);
        assertThat(this.app.delete(pathOf(id)).statusCode()).isEqualTo(204);
        assertThat(output).contains("for consumer 'billing': forgot message '" + id + "'");
        this.app.bill(id, payload);
        assertThat(this.app.application().bean(Effects.class).counts()).containsEntry(payload, 2);
    }

    @Test
    void anIdCannotWriteLinesOfItsOwnIntoTheLog(CapturedOutput output) {
        String id = "x\nFORGED " + unique();
        this.app
                .application()
                .jdbc()
                .update(
                        "insert into idempotency_processed (consumer_id, message_id, record_topic, record_partition,"
                                + " record_offset) values (?, ?, 'bills', 0, 0)",
                        BILLING,
                        id);
        assertThat(this.app
                        .delete("/idempotency?consumer=billing&messageId=" + encoded(id))
                        .statusCode())
                .isEqualTo(204);
        assertThat(output.toString().lines())
                .noneMatch(line -> line.startsWith("FORGED"))
                .anyMatch(line -> line.contains("message 'x?FORGED"));
    }

    private String ok(String path) {
        HttpResponse<String> response = this.app.get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
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
}
