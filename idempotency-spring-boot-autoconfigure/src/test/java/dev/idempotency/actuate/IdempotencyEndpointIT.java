package dev.idempotency.actuate;

import static dev.idempotency.app.Actuator.encoded;
import static dev.idempotency.app.ObservedApplication.BILLING;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.Actuator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.event.CleanupRun;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith({ObservedApplication.Shared.class, OutputCaptureExtension.class})
class IdempotencyEndpointIT {

    private static final String ALL = "/idempotency";
    private static final String ONE = "/idempotency?consumer=" + BILLING;
    private static final String ARCHIVE = "/idempotency?consumer=archive";
    private static final String HEALTH = "/health/idempotency";

    private final ObservedApplication app;
    private final Actuator actuator;
    private final JdbcTemplate jdbc;

    IdempotencyEndpointIT(ObservedApplication app) {
        this.app = app;
        this.actuator = app.actuator();
        this.jdbc = app.application().jdbc();
    }

    @Test
    void theListHasEveryConsumerWithItsListenerTopicsKeySourceAndRetention() {
        String some = "['listeners', 'topics', 'keySource', 'retention']";
        String keys = "headers [idempotency-key, message-id, ce_id, id]";
        assertThat(this.actuator.<List<Object>>read(ALL, "$.consumers[?(@.consumer == 'billing')]" + some))
                .singleElement()
                .hasToString("{listeners=[\"Listeners.billing\"], topics=[\"%s\"], keySource=%s, retention=PT720H}"
                        .formatted(this.app.billingTopic(), keys));
        this.actuator
                .assertThatIn("/idempotency?consumer=" + encoded(this.app.stockConsumer()), "$" + some)
                .hasToString("{listeners=[\"Listeners.stock\"], topics=[\"%s\"], keySource=%s, retention=PT168H}"
                        .formatted(this.app.stockTopic(), keys));
    }

    @Test
    void theMetersOfAConsumerAreInItsReport() {
        Map<String, Object> before = this.actuator.read(ONE, "$");
        this.app.billOneOfEachOutcome();
        Map<String, Object> after = this.actuator.read(ONE, "$");
        assertThat(Stream.of(
                        "messages.processed",
                        "messages.duplicate",
                        "messages.failed",
                        "messages.missing_key",
                        "hits.republication",
                        "conflicts"))
                .allSatisfy(name -> assertThat(count(after, name) - count(before, name))
                        .as(name)
                        .isOne());
        assertThat(Duration.parse((String) after.get("oldestAge"))).isPositive();
    }

    private static int count(Map<String, Object> report, String name) {
        return JsonPath.read(report, "$." + name);
    }

    @Test
    void theSizeOfTheTableAndTheLastCleanupAreReported() {
        this.app.bill(unique(), "counted");
        CleanupRun run = this.app.cleanUp(limit -> 17);
        Awaitility.await().untilAsserted(() -> {
            this.jdbc.execute("analyze idempotency_processed");
            this.actuator
                    .assertThatIn(ALL, "$.store.rows")
                    .isEqualTo(this.jdbc.queryForObject("select count(*) from idempotency_processed", Integer.class));
        });
        this.actuator
                .assertThatIn(ALL, "$.cleanup")
                .hasToString("{lastRun={at=%s, took=%s, deleted=17, keepsUp=true}, failure=null}"
                        .formatted(run.at(), run.took()));
    }

    @Test
    void aMessageTellsWhetherWhenAndByWhichRecordItWasProcessed() {
        String id = unique();
        this.actuator.assertThatIn(pathOf(id), "$.processed").isEqualTo(false);
        this.app.bill(id, "seen");
        this.actuator
                .assertThatIn(pathOf(id), "$")
                .asString()
                .matches(
                        "\\{consumer=billing, messageId=%s, version=null, processed=true, processedAt=.*Z, .*, record=\\{topic=%s, partition=0, offset=\\d+}, steps=\\[]}"
                                .formatted(id, this.app.billingTopic()));
    }

    @Test
    void aStepOfUnknownOutcomeIsShownAndSettled(CapturedOutput output) {
        String id = unique();
        this.jdbc.update("insert into idempotency_step values (?, ?, 'mail', 'started', now())", BILLING, id);
        this.actuator.assertThatIn(pathOf(id), "$.steps[0].status").isEqualTo("started");
        String request = "{'consumer': '" + BILLING + "', 'messageId': '" + id + "', 'step': '%s', 'outcome': '%s'}";
        this.actuator.post(ALL, request.formatted("mail", "perhaps"), 400);
        this.actuator.post(ALL, request.formatted("other", "done"), 404);
        this.actuator.post(ALL, request.formatted("mail", "done"), 204);
        this.actuator.assertThatIn(pathOf(id), "$.steps[0]").asString().startsWith("{name=mail, status=done, ");
        this.actuator.post(ALL, request.formatted("mail", "not-done"), 404);
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
        String consumer = this.app.stockConsumer();
        this.app.stock(id, payload);
        String query = "/idempotency?consumer=%s&messageId=%s".formatted(encoded(consumer), encoded(id));
        this.actuator.assertThatIn(query, "$.processed").isEqualTo(true);
        this.actuator.delete(query, 204);
        this.actuator.assertThatIn(query, "$.processed").isEqualTo(false);
        assertThat(output.toString().lines())
                .anyMatch(line -> line.contains("for consumer '" + consumer + "': forgot message '"))
                .noneMatch(line -> line.startsWith("FORGED"));
        this.app.stock(id, payload);
        assertThat(this.app.application().bean(Effects.class).counts()).containsEntry(payload, 2);
    }

    @Test
    void aLongIdIsFoundByTheDigestUnderWhichItIsStored() {
        String id = "y".repeat(300) + unique();
        this.app.bill(id, "long");
        String stored = this.actuator.read(pathOf(id), "$.messageId");
        assertThat(stored).startsWith("sha256:");
        this.actuator.assertThatIn(pathOf(stored), "$.processed").isEqualTo(true);
    }

    @Test
    void aConsumerThatGoesByOffsetsShowsItsPositionsWhichCanBeForgotten(CapturedOutput output) {
        this.app.stock(unique(), "archived");
        Awaitility.await()
                .untilAsserted(() -> assertThat(this.actuator.<List<Map<String, Object>>>read(ARCHIVE, "$.positions"))
                        .singleElement()
                        .satisfies(position -> assertThat(position)
                                .containsEntry("topic", this.app.stockTopic())
                                .containsEntry("partition", 0)
                                .containsKeys("nextOffset", "topicId", "processedAt")));
        this.actuator
                .assertThatIn(ARCHIVE, "$['strategy', 'retention']")
                .hasToString("{strategy=OFFSET, retention=null}");
        String position = ARCHIVE + "&topic=%s&partition=".formatted(this.app.stockTopic());
        this.actuator.delete(position + "1", 404);
        this.actuator.delete(ARCHIVE + "&topic=%00&partition=0", 404);
        this.actuator.delete(position + "0", 204);
        assertThat(output).contains("for consumer 'archive': forgot the position in ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            404 | GET    | consumer=nobody
            404 | GET    | consumer=nobody&messageId=1
            400 | GET    | consumer=billing&messageId=%20
            400 | GET    | messageId=1
            400 | GET    | consumer=a%00b&messageId=1
            400 | DELETE | consumer=a%00b&messageId=1
            400 | DELETE | consumer=billing
            400 | DELETE | consumer=archive&topic=stock
            400 | DELETE | consumer=archive&topic=stock&partition=zero
            400 | DELETE | consumer=archive&topic=stock&partition=0&messageId=1
            """)
    void aRequestThatMakesNoSenseIsRefused(int status, String method, String query) {
        this.actuator.request(method, "/idempotency?" + query, null, status);
    }

    @AfterEach
    void mend() {
        this.app.cleanUp(limit -> 0);
    }

    @Test
    void allIsWellWhenTheStoreAnswersItsSchemaIsUpToDateAndTheCleanupKeepsUp() {
        this.app.cleanUp(limit -> 5);
        this.actuator
                .assertThatIn(HEALTH, "$")
                .asString()
                .matches("\\{details=\\{lastCleanup=.* deleted=5, .*, schema=up to date, store=reachable}, status=UP}");
    }

    @Test
    void aCleanupThatFailsOrDoesNotKeepUpDegradesItUntilOneSucceedsButNotTheApplication() {
        this.app.cleanUp(limit -> limit);
        assertDegraded();
        this.app.cleanUp(limit -> {
            throw new IllegalStateException("permission denied");
        });
        assertDegraded();
        this.actuator
                .assertThatIn(HEALTH, "$.details.cleanupFailure.reason")
                .asString()
                .contains("permission denied");
        this.app.cleanUp(limit -> 0);
        this.actuator.assertThatIn(HEALTH, "$.status").isEqualTo("UP");
    }

    private void assertDegraded() {
        this.actuator.assertThatIn(HEALTH, "$.status").isEqualTo("DEGRADED");
        this.actuator.assertThatIn("/health", "$.status").isEqualTo("UP");
    }

    @Test
    void aSchemaThatIsNotAtTheExpectedVersionIsDown() {
        this.jdbc.execute("alter table idempotency_processed rename column record_topic to topic_of_old");
        try {
            assertThat(this.actuator.get(HEALTH, 503)).contains("missing", "idempotency_processed");
        } finally {
            this.jdbc.execute("alter table idempotency_processed rename column topic_of_old to record_topic");
        }
    }

    private static String pathOf(String id) {
        return ONE + "&messageId=" + encoded(id);
    }

    private static String unique() {
        return UUID.randomUUID().toString();
    }
}
