package dev.idempotency.actuate;

import static dev.idempotency.app.Actuator.encoded;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Actuator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.util.Assert;

/** Dead letters and reconciliations over HTTP, for those who may and those who may not. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class OperatorEndpointsIT {

    private static final String SANITIZED = "******";
    private static final String KEPT = "/idempotencyinbox?consumer=kept";
    private static final String DEAD_LETTERS = "/idempotencydeadletters";
    private static final String RECONCILIATION = "/idempotencyreconciliation";

    private final TestDatabase database = TestPostgres.createDatabase();
    private final String topic = TestKafka.createTopic("operated", 1);
    private final String group = TestKafka.uniqueName("operated");

    /** A name with a slash, as they have by default. */
    private final String consumer = this.group + "/Picky.on";

    private TestApplication app;
    private Actuator anybody;
    private Actuator clerk;
    private Actuator auditor;

    @BeforeAll
    void startAndSend() {
        TestKafka.createTopics(1, this.topic + "-dlt", this.topic + "-kept");
        this.app = TestApplication.start(
                this.database,
                List.of(
                        TestApplication.WEB,
                        "management.endpoint.idempotencydeadletters.access=unrestricted",
                        "management.endpoint.idempotencydeadletters.show-values=when-authorized",
                        "management.endpoint.idempotencyreconciliation.access=unrestricted",
                        "management.endpoint.idempotencyinbox.access=unrestricted",
                        "management.endpoint.idempotencyinbox.show-values=when-authorized",
                        "idempotency.errors.max-attempts=1",
                        "topic=" + this.topic,
                        "group=" + this.group),
                Picky.class,
                Security.class);
        this.anybody = new Actuator(this.app, null);
        this.clerk = new Actuator(this.app, "clerk");
        this.auditor = new Actuator(this.app, "auditor");
        this.app.send(this.topic, "1", "good");
        this.app.send(this.topic, "2", "secret payload that fails");
        this.app.awaitCaughtUp(this.group, this.topic);
        this.app.send(this.topic + "-kept", "2", "secret payload that fails");
        this.app.send(this.topic + "-kept", "good", "good");
        this.app.send(this.topic + "-kept", "bad", "bad");
        this.app.awaitCaughtUp(this.group + "-kept", this.topic + "-kept");
    }

    @AfterAll
    void stop() {
        this.app.close();
        this.database.close();
    }

    @Test
    void deadLettersAreShownToThoseWhoMaySeeThemAndHiddenFromOthers() {
        String first = this.topic + "-dlt-0@0";
        String query = DEAD_LETTERS + "?consumer=" + encoded(this.consumer);
        String page = this.anybody.ok(query);
        assertThat(JsonPath.<String>read(page, "$.deadLetters[0].deadLetter")).isEqualTo(first);
        assertThat(JsonPath.<Integer>read(page, "$.deadLetters[0].original.offset"))
                .isOne();
        assertThat(JsonPath.<String>read(page, "$.deadLetters[0].exception"))
                .isEqualTo(IllegalStateException.class.getName());
        assertThat(JsonPath.<String>read(page, "$.deadLetters[0].message")).isEqualTo("******");
        assertThat(JsonPath.<List<String>>read(page, "$.topics")).containsExactly(this.topic + "-dlt");
        String one = this.anybody.ok(query + "&deadLetter=" + first);
        assertThat(page + one).doesNotContain("secret");
        assertThat(JsonPath.<List<String>>read(one, "$.headers[*].name")).contains("message-id");
        String shown = this.auditor.ok(query + "&deadLetter=" + first);
        assertThat(JsonPath.<String>read(shown, "$.payload.text")).isEqualTo("secret payload that fails");
        assertThat(JsonPath.<String>read(shown, "$.letter.message")).contains("secret reason");
        assertThat(JsonPath.<List<String>>read(this.clerk.ok(DEAD_LETTERS), "$.consumers[*].consumer"))
                .contains(this.consumer);
    }

    @Test
    void whatTheInboxHasReceivedIsShownToThoseWhoMaySeeItAndHiddenFromOthers() {
        assertHidden(this.anybody, KEPT);
        String shown = this.auditor.ok(KEPT + "&messageId=2");
        assertThat(JsonPath.<String>read(shown, "$.payload.text")).isEqualTo("secret payload that fails");
        assertThat(JsonPath.<String>read(shown, "$.message.lastError")).contains("secret reason", "\tat ");
        assertThat(JsonPath.<List<String>>read(shown, "$.headers[*].value.text"))
                .contains("2");
        String listed = this.auditor.ok(KEPT + "&status=failed");
        assertThat(JsonPath.<List<String>>read(listed, "$.messages[?(@.messageId == '2')].lastError"))
                .containsExactly("java.lang.IllegalStateException: secret reason");
        this.clerk.get(KEPT + "&messageId=unknown", 404);
    }

    @Test
    void messagesOfTheInboxAreListedByStatusTypeAndTime() {
        assertThat(ids("&status=processed")).contains("good").doesNotContain("2");
        assertThat(ids("&status=FAILED")).contains("2");
        assertThat(JsonPath.<List<?>>read(this.clerk.ok("/idempotencyinbox?consumer=nobody"), "$.messages"))
                .isEmpty();
        assertThat(ids("&type=java.lang.String")).contains("good", "2");
        assertThat(ids("&type=other")).isEmpty();
        assertThat(ids("&since=" + Instant.now().plusSeconds(3600))).isEmpty();
        assertThat(ids("&until=" + Instant.now().plusSeconds(3600) + "&since=2026-01-01T00:00:00%2B01:00"))
                .contains("good");
        String next = JsonPath.read(this.clerk.ok(KEPT + "&size=1"), "$.next");
        assertThat(ids("&after=" + next))
                .hasSize(ids("").size() - 1)
                .doesNotContain(ids("&size=1").get(0));
    }

    private List<String> ids(String query) {
        return JsonPath.read(this.clerk.ok(KEPT + query), "$.messages[*].messageId");
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
                "after=x",
                "after=",
                "after=MQ",
                "type=a%00b",
                "consumer=a%00b&messageId=1"
            })
    void aQuestionToTheInboxThatMakesNoSenseIsRefused(String query) {
        this.clerk.get("/idempotencyinbox?" + query, 400);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            {'consumer': 'kept'}                                        | 400
            {'consumer': 'kept', 'messageid': 'good'}                   | 400
            {'consumer': 'kept', 'all': false}                          | 400
            {'consumer': 'kept', 'all': true, 'messageId': 'good'}      | 400
            {'consumer': 'kept', 'all': true, 'forget': true}           | 400
            {'consumer': 'nobody', 'all': true}                         | 404
            {'consumer': 'kept', 'messageId': 'unknown'}                | 404
            """)
    void messagesAreReplayedOnlyIfThatIsAskedForInWords(String body, int status) {
        this.clerk.post("/idempotencyinbox", body, status);
    }

    @Test
    void messagesAreReplayedOnRequest(CapturedOutput output) {
        String processed = this.clerk.post("/idempotencyinbox", "{'consumer': 'kept', 'messageId': 'good'}", 409);
        assertThat(JsonPath.<String>read(processed, "$.refused")).contains("has been processed");
        String replayed = this.clerk.post("/idempotencyinbox", "{'consumer': 'kept', 'messageId': 'bad'}", 200);
        assertThat(JsonPath.<Integer>read(replayed, "$.sent")).isOne();
        String forget = "{'consumer': 'kept', 'messageId': 'good', 'forget': true}";
        this.clerk.post("/idempotencyinbox", forget, 200);
        this.app.awaitCaughtUp(this.group + "-kept", this.topic + "-kept");
        assertThat(this.app.bean(Effects.class).counts())
                .containsEntry("bad", 1)
                .containsEntry("good", 2);
        assertThat(output)
                .contains("Requested by clerk for consumer 'kept': replay of message 'good', even if processed");
    }

    private static void assertHidden(Actuator actuator, String query) {
        String one = actuator.ok(query + "&messageId=2");
        String page = actuator.ok(query + "&status=failed");
        assertThat(page + one).doesNotContain("secret", "IllegalStateException");
        assertThat(JsonPath.<String>read(one, "$.payload.text")).isEqualTo(SANITIZED);
        assertThat(JsonPath.<String>read(one, "$.message.lastError")).isEqualTo(SANITIZED);
        assertThat(JsonPath.<List<String>>read(one, "$.headers[*].value.text"))
                .isNotEmpty()
                .containsOnly(SANITIZED);
        assertThat(JsonPath.<List<String>>read(one, "$.headers[*].name")).doesNotContain(SANITIZED);
        assertThat(JsonPath.<String>read(page, "$.messages[0].lastError")).isEqualTo(SANITIZED);
    }

    @Test
    void byDefaultNothingIsShownToAnybodyAndThereIsNothingButReading() {
        try (TestApplication other = TestApplication.start(
                this.database,
                List.of(
                        TestApplication.WEB,
                        "spring.kafka.listener.auto-startup=false",
                        "topic=" + this.topic,
                        "group=" + this.group),
                Picky.class,
                Security.class)) {
            Actuator actuator = new Actuator(other, "auditor");
            String query = "?consumer=" + encoded(this.consumer);
            assertHidden(actuator, KEPT);
            String list = actuator.ok(DEAD_LETTERS + query);
            assertThat(JsonPath.<String>read(list, "$.deadLetters[0].message")).isEqualTo(SANITIZED);
            String one = actuator.ok(DEAD_LETTERS + query + "&deadLetter=" + this.topic + "-dlt-0@0");
            assertThat(list + one).doesNotContain("secret");
            assertThat(JsonPath.<String>read(one, "$.payload.text")).isEqualTo(SANITIZED);
            assertThat(JsonPath.<List<String>>read(one, "$.headers[*].value.text"))
                    .isNotEmpty()
                    .containsOnly(SANITIZED);
            actuator.delete("/idempotency" + query + "&messageId=1", 405);
            for (String endpoint : List.of("/idempotencyinbox", DEAD_LETTERS, RECONCILIATION)) {
                actuator.post(endpoint, "{'consumer': 'x', 'all': true}", 405);
                actuator.delete(endpoint + query, 405);
            }
        }
    }

    @Test
    void aQuestionThatMakesNoSenseIsRefused() {
        String ours = "?consumer=" + encoded(this.consumer);
        this.clerk.get(DEAD_LETTERS + "?consumer=nobody", 404);
        this.clerk.get(DEAD_LETTERS + "?status=pending", 400);
        for (String query : List.of(
                "&size=0",
                "&size=-1",
                "&size=1001",
                "&size=99999999999",
                "&after=x-0@-1",
                "&status=x",
                "&after=x",
                "&deadLetter=x-y@z")) {
            this.clerk.get(DEAD_LETTERS + ours + query, 400);
        }
        for (String elsewhere : List.of(this.topic + "-0@0", this.topic + "-dlt-0@99", this.topic + "-dlt-7@0")) {
            this.auditor.get(DEAD_LETTERS + ours + "&deadLetter=" + elsewhere, 404);
        }
        for (String selection : List.of("", ", \"all\": false", ", \"all\": true, \"exception\": \"*\"")) {
            post(this.clerk, DEAD_LETTERS, selection, 400);
        }
        for (String since :
                List.of("yesterday", "", "PT0S", "-1h", "P-1D", "9999999999999d", "PT9999999999999999H", "3651d")) {
            post(this.clerk, RECONCILIATION, ", \"since\": \"" + since + "\"", 400);
        }
        for (String since : List.of("24", "\"24\"", "-24", "24.5")) {
            assertThat(post(this.clerk, RECONCILIATION, ", \"since\": " + since, 400))
                    .as(since)
                    .contains("24h");
        }
        for (String from : List.of("true", "24", "\"24h\"", "\"2026-11-18\"")) {
            assertThat(post(this.clerk, RECONCILIATION, ", \"replayFrom\": " + from, 400))
                    .as(from)
                    .contains("run with the library without interruption");
        }
        this.clerk.post(RECONCILIATION, "{}", 400);
        this.clerk.delete(DEAD_LETTERS, 400);
        this.clerk.delete(DEAD_LETTERS + "?consumer=nobody", 404);
        String nobody = "{\"consumer\": \"nobody\", \"all\": true}";
        this.clerk.post(DEAD_LETTERS, nobody, 404);
        this.clerk.post(RECONCILIATION, "{\"consumer\": \"nobody\"}", 404);
        this.clerk.delete(RECONCILIATION + ours, 404);
    }

    @Test
    void aRedriveIsStartedAndWatchedAndTheLogSaysWhoAskedAndNoPayload(CapturedOutput output) {
        post(this.clerk, DEAD_LETTERS, ", \"exception\": \"IllegalStateException\"", 202);
        Awaitility.await().untilAsserted(() -> assertThat(JsonPath.<String>read(
                        this.clerk.ok(DEAD_LETTERS + "?consumer=" + encoded(this.consumer)), "$.redrive.state"))
                .isEqualTo("completed"));
        String one = post(this.clerk, DEAD_LETTERS, ", 'deadLetter': '" + this.topic + "-dlt-0@0'", 200);
        assertThat(JsonPath.<Integer>read(one, "$.sent")).isOne();
        this.clerk.delete(DEAD_LETTERS + "?consumer=" + encoded(this.consumer), 404);
        // Those that were sent back have failed again by then, and the log has told of it.
        this.app.awaitCaughtUp(this.group, this.topic);
        assertThat(output)
                .contains("by clerk for consumer '%s': redrive of dead letters: those with IllegalStateException"
                        .formatted(this.consumer))
                .doesNotContain("secret payload");
    }

    @Test
    void aReconciliationIsStartedAndReportedAndTheLogSaysWhoAsked(CapturedOutput output) {
        post(this.auditor, RECONCILIATION, ", 'since': 'PT24H', 'replayFrom': '2000-01-01T00:00:00Z'", 202);
        String report = awaitReport();
        assertThat(JsonPath.<String>read(report, "$.state")).isEqualTo("completed");
        assertThat(JsonPath.<String>read(report, "$.replayFrom")).isEqualTo("2000-01-01T00:00:00Z");
        assertThat(JsonPath.<Integer>read(report, "$.fates.processed")).isPositive();
        assertThat(JsonPath.<Integer>read(report, "$.fates.deadLettered")).isPositive();
        assertThat(JsonPath.<Integer>read(report, "$.fates.missing")).isZero();
        assertThat(JsonPath.<List<String>>read(this.clerk.ok(RECONCILIATION), "$.reconciliations[*].consumer"))
                .containsExactly(this.consumer);
        assertThat(output)
                .contains(
                        "Requested by auditor for consumer '%s': reconciliation since PT24H, and replay of what is missing from 2000-01-01T00:00:00Z"
                                .formatted(this.consumer));
        // Observers hear of it when it has ended.
        Awaitility.await()
                .until(() -> this.app
                                .bean(MeterRegistry.class)
                                .get("idempotency.reconciliation.missing")
                                .tag("consumer", this.consumer)
                                .gauge()
                                .value()
                        == 0);
    }

    private String post(Actuator user, String path, String more, int status) {
        return user.post(path, "{'consumer': '" + this.consumer + "'" + more + "}", status);
    }

    private String awaitReport() {
        String query = RECONCILIATION + "?consumer=" + encoded(this.consumer);
        return Awaitility.await().until(() -> this.clerk.ok(query), answer -> !JsonPath.<String>read(answer, "$.state")
                .equals("running"));
    }

    static class Picky extends HasEffects {

        private boolean failed;

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            Assert.state(!payload.contains("fails"), "secret reason");
        }

        @KafkaListener(topics = "${topic}-kept", groupId = "${group}-kept")
        @IdempotentListener(consumer = "kept", inbox = "true")
        void kept(String payload) {
            this.effects.happen(payload);
            boolean first = payload.equals("bad") && !this.failed;
            this.failed |= first;
            Assert.state(!first && !payload.contains("fails"), "secret reason");
        }
    }

    @EnableWebSecurity
    static class Security {

        @Bean
        SecurityFilterChain everybodyMayAsk(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .csrf(csrf -> csrf.disable())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("clerk")
                            .password("{noop}password")
                            .roles("CLERK")
                            .build(),
                    User.withUsername("auditor")
                            .password("{noop}password")
                            .roles("AUDITOR")
                            .build());
        }
    }
}
