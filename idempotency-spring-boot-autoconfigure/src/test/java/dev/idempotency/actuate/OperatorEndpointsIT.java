package dev.idempotency.actuate;

import static dev.idempotency.app.Actuator.encoded;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Actuator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.search.Search;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

/** Dead letters and reconciliations over HTTP, for users with and without permission. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class OperatorEndpointsIT {

    private static final String SECRET = "secret payload that fails";
    private static final String SANITIZED = "******";
    private static final String INBOX = "/idempotencyinbox";
    private static final String KEPT = INBOX + "?consumer=kept";
    private static final String DEAD_LETTERS = "/idempotencydeadletters";
    private static final String RECONCILIATION = "/idempotencyreconciliation";

    private final TestDatabase database = TestPostgres.createDatabase();
    private final String topic = TestKafka.createTopic("operated", 1);
    private final String group = TestKafka.uniqueName("operated");

    /** The default name of a consumer, which contains a slash. */
    private final String consumer = this.group + "/Picky.on";

    private final String deadLetters = DEAD_LETTERS + "?consumer=" + encoded(this.consumer);
    private final String first = this.topic + "-dlt-0@0";

    private TestApplication app;
    private Actuator anybody;
    private Actuator clerk;
    private Actuator auditor;

    @BeforeAll
    void startAndSend() {
        TestKafka.createTopics(1, this.topic + "-dlt", this.topic + "-kept");
        this.app = start(
                "management.endpoint.idempotencydeadletters.access=unrestricted",
                "management.endpoint.idempotencydeadletters.show-values=when-authorized",
                "management.endpoint.idempotencyreconciliation.access=unrestricted",
                "management.endpoint.idempotencyinbox.access=unrestricted",
                "management.endpoint.idempotencyinbox.show-values=when-authorized");
        this.anybody = new Actuator(this.app, null);
        this.clerk = new Actuator(this.app, "clerk");
        this.auditor = new Actuator(this.app, "auditor");
        this.app.send(this.topic, "1", "good");
        this.app.send(this.topic, "2", SECRET);
        this.app.awaitCaughtUp(this.group, this.topic);
        this.app.send(this.topic + "-kept", "2", SECRET);
        this.app.send(this.topic + "-kept", "good", "good");
        this.app.send(this.topic + "-kept", "bad", "bad");
        this.app.awaitCaughtUp(this.group + "-kept", this.topic + "-kept");
    }

    private TestApplication start(String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add(TestApplication.WEB);
        all.add("idempotency.errors.max-attempts=1");
        all.add("topic=" + this.topic);
        all.add("group=" + this.group);
        return TestApplication.start(this.database, all, Picky.class, Security.class);
    }

    @AfterAll
    void stop() {
        this.app.close();
        this.database.close();
    }

    @Test
    void deadLettersAreShownToThoseWhoMaySeeThemAndHiddenFromOthers() {
        assertHidden(this.anybody, this.deadLetters, this.deadLetters + "&deadLetter=" + this.first, "message");
        this.anybody
                .assertThatIn(this.deadLetters, "$.deadLetters[0]['deadLetter', 'original', 'exception']")
                .hasToString(
                        "{deadLetter=%s, original={topic=%s, partition=0, offset=1}, exception=java.lang.IllegalStateException}"
                                .formatted(this.first, this.topic));
        this.anybody.assertThatIn(this.deadLetters, "$.topics").isEqualTo(List.of(this.topic + "-dlt"));
        String shown = this.deadLetters + "&deadLetter=" + this.first;
        this.auditor.assertThatIn(shown, "$.payload.text").isEqualTo(SECRET);
        this.auditor.assertThatIn(shown, "$.letter.message").asString().contains("secret reason");
        assertThat(this.clerk.<List<String>>read(DEAD_LETTERS, "$.consumers[*].consumer"))
                .contains(this.consumer);
    }

    @Test
    void whatTheInboxHasReceivedIsShownToThoseWhoMaySeeItAndHiddenFromOthers() {
        assertHidden(this.anybody, KEPT + "&status=failed", KEPT + "&messageId=2", "lastError");
        String shown = KEPT + "&messageId=2";
        this.auditor.assertThatIn(shown, "$.payload.text").isEqualTo(SECRET);
        this.auditor.assertThatIn(shown, "$.message.lastError").asString().contains("secret reason", "\tat ");
        assertThat(this.auditor.<List<String>>read(shown, "$.headers[*].value.text"))
                .contains("2");
        this.auditor
                .assertThatIn(KEPT + "&status=failed", "$.messages[?(@.messageId == '2')].lastError")
                .isEqualTo(List.of("java.lang.IllegalStateException: secret reason"));
        this.clerk.get(KEPT + "&messageId=unknown", 404);
    }

    /** Asserts that a page, and one of its messages, hide values but not the names of headers. */
    private static void assertHidden(Actuator actuator, String page, String one, String error) {
        assertThat(actuator.ok(page) + actuator.ok(one))
                .doesNotContainPattern("secret|(?<!exception\":\"java\\.lang\\.)IllegalStateException");
        assertThat(Stream.of(page, one).map(query -> actuator.<List<String>>read(query, "$.." + error)))
                .allSatisfy(errors -> assertThat(errors).isNotEmpty().containsOnly(SANITIZED));
        actuator.assertThatIn(one, "$.payload.text").isEqualTo(SANITIZED);
        assertThat(actuator.<List<String>>read(one, "$.headers[*].value.text"))
                .isNotEmpty()
                .containsOnly(SANITIZED);
        assertThat(actuator.<List<String>>read(one, "$.headers[*].name"))
                .contains("message-id")
                .doesNotContain(SANITIZED);
    }

    @Test
    void byDefaultNothingIsShownToAnybodyAndThereIsNothingButReading() {
        try (TestApplication other = start("spring.kafka.listener.auto-startup=false")) {
            Actuator actuator = new Actuator(other, "auditor");
            assertHidden(actuator, KEPT + "&status=failed", KEPT + "&messageId=2", "lastError");
            assertHidden(actuator, this.deadLetters, this.deadLetters + "&deadLetter=" + this.first, "message");
            String query = "?consumer=" + encoded(this.consumer);
            actuator.delete("/idempotency" + query + "&messageId=1", 405);
            for (String endpoint : List.of(INBOX, DEAD_LETTERS, RECONCILIATION)) {
                actuator.post(endpoint, "{'consumer': 'x', 'all': true}", 405);
                actuator.delete(endpoint + query, 405);
            }
        }
    }

    @Test
    void messagesOfTheInboxAreListedByStatusTypeAndTime() {
        assertThat(ids("&status=processed")).contains("good").doesNotContain("2");
        assertThat(ids("&status=FAILED")).contains("2");
        assertThat(ids("&type=java.lang.String")).contains("good", "2");
        assertThat(ids("&type=other")).isEmpty();
        assertThat(ids("&since=" + Instant.now().plusSeconds(3600))).isEmpty();
        assertThat(ids("&until=" + Instant.now().plusSeconds(3600) + "&since=2026-01-01T00:00:00%2B01:00"))
                .contains("good");
        String next = this.clerk.read(KEPT + "&size=1", "$.next");
        assertThat(ids("&after=" + next))
                .hasSize(ids("").size() - 1)
                .doesNotContain(ids("&size=1").get(0));
        this.clerk.assertThatIn(INBOX + "?consumer=nobody", "$.messages").isEqualTo(List.of());
    }

    private List<String> ids(String query) {
        return this.clerk.read(KEPT + query, "$.messages[*].messageId");
    }

    /** Several queries are separated by blanks. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            400 | GET    | inbox?               | status=lost size=0 size=1001 size=many messageId=good
            400 | GET    | inbox?               | since=yesterday after=x after= after=MQ
            400 | GET    | inbox?               | type=a%00b consumer=a%00b&messageId=1
            400 | GET    | deadletters?         | status=pending
            404 | GET    | deadletters?         | consumer=nobody
            400 | GET    | deadletters?{ours}&  | size=0 size=-1 size=1001 size=99999999999 status=x
            400 | GET    | deadletters?{ours}&  | after=x-0@-1 after=x deadLetter=x-y@z
            404 | GET    | deadletters?{ours}&  | deadLetter={topic}-0@0 deadLetter={topic}-dlt-0@99
            404 | GET    | deadletters?{ours}&  | deadLetter={topic}-dlt-7@0
            400 | DELETE | deadletters          | ?
            404 | DELETE | deadletters?         | consumer=nobody
            404 | DELETE | reconciliation?      | {ours}
            """)
    void aQuestionThatMakesNoSenseIsRefused(int status, String method, String endpoint, String queries) {
        for (String query : queries.split(" ")) {
            String path = ("/idempotency" + endpoint + query)
                    .replace("{ours}", "consumer=" + encoded(this.consumer))
                    .replace("{topic}", this.topic);
            this.clerk.request(method, path, null, status);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            400 | /idempotencyinbox          | 'consumer': 'kept'
            400 | /idempotencyinbox          | 'consumer': 'kept', 'messageid': 'good'
            400 | /idempotencyinbox          | 'consumer': 'kept', 'all': false
            400 | /idempotencyinbox          | 'consumer': 'kept', 'all': true, 'messageId': 'good'
            400 | /idempotencyinbox          | 'consumer': 'kept', 'all': true, 'forget': true
            404 | /idempotencyinbox          | 'consumer': 'nobody', 'all': true
            404 | /idempotencyinbox          | 'consumer': 'kept', 'messageId': 'unknown'
            400 | /idempotencydeadletters    | 'consumer': '{ours}'
            400 | /idempotencydeadletters    | 'consumer': '{ours}', 'all': false
            400 | /idempotencydeadletters    | 'consumer': '{ours}', 'all': true, 'exception': '*'
            404 | /idempotencydeadletters    | 'consumer': 'nobody', 'all': true
            400 | /idempotencyreconciliation | ""
            404 | /idempotencyreconciliation | 'consumer': 'nobody'
            """)
    void whatIsNotAskedForInWordsIsNotDone(int status, String path, String body) {
        this.clerk.post(path, "{" + body.replace("{ours}", this.consumer) + "}", status);
    }

    /** Values are separated by blanks. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            since      | 'yesterday' '' 'PT0S' '-1h' 'P-1D' '9999999999999d' 'PT9999999999999999H' '3651d' | ""
            since      | 24 '24' -24 24.5              | 24h
            replayFrom | true 24 '24h' '2026-11-18'    | run with the library without interruption
            """)
    void aTimeThatIsNoneIsRefusedWithWhatItMayBe(String name, String values, String remedy) {
        for (String value : values.split(" ")) {
            assertThat(post(this.clerk, RECONCILIATION, ", '%s': %s".formatted(name, value), 400))
                    .as(value)
                    .contains(remedy);
        }
    }

    @Test
    void messagesAreReplayedOnRequest(CapturedOutput output) {
        assertThat(this.clerk.post(INBOX, "{'consumer': 'kept', 'messageId': 'good'}", 409))
                .contains("has been processed");
        assertThat(this.clerk.post(INBOX, "{'consumer': 'kept', 'messageId': 'bad'}", 200))
                .contains("\"sent\":1,");
        this.clerk.post(INBOX, "{'consumer': 'kept', 'messageId': 'good', 'forget': true}", 200);
        this.app.awaitCaughtUp(this.group + "-kept", this.topic + "-kept");
        assertThat(this.app.bean(Effects.class).counts())
                .containsEntry("bad", 1)
                .containsEntry("good", 2);
        assertThat(output)
                .contains("Requested by clerk for consumer 'kept': replay of message 'good', even if processed");
    }

    @Test
    void aRedriveIsStartedAndWatchedAndTheLogSaysWhoAskedAndNoPayload(CapturedOutput output) {
        post(this.clerk, DEAD_LETTERS, ", 'exception': 'IllegalStateException'", 202);
        Awaitility.await().untilAsserted(() -> this.clerk
                .assertThatIn(this.deadLetters, "$.redrive.state")
                .isEqualTo("completed"));
        assertThat(post(this.clerk, DEAD_LETTERS, ", 'deadLetter': '" + this.first + "'", 200))
                .contains("\"sent\":1,");
        this.clerk.delete(this.deadLetters, 404);
        // By then the redriven dead letters have failed again and were logged.
        this.app.awaitCaughtUp(this.group, this.topic);
        assertThat(output)
                .contains("by clerk for consumer '%s': redrive of dead letters: those with IllegalStateException"
                        .formatted(this.consumer))
                .doesNotContain("secret payload");
    }

    @Test
    void aReconciliationIsStartedAndReportedAndTheLogSaysWhoAsked(CapturedOutput output) {
        post(this.auditor, RECONCILIATION, ", 'since': 'PT24H', 'replayFrom': '2000-01-01T00:00:00Z'", 202);
        String query = RECONCILIATION + "?consumer=" + encoded(this.consumer);
        Awaitility.await()
                .untilAsserted(() -> this.clerk.assertThatIn(query, "$.state").isEqualTo("completed"));
        this.clerk.assertThatIn(query, "$.replayFrom").isEqualTo("2000-01-01T00:00:00Z");
        this.clerk
                .assertThatIn(query, "$.fates['processed', 'deadLettered', 'missing']")
                .asString()
                .matches("\\{processed=[1-9].*, deadLettered=[1-9].*, missing=0}");
        this.clerk.assertThatIn(RECONCILIATION, "$.reconciliations[*].consumer").isEqualTo(List.of(this.consumer));
        assertThat(output)
                .contains(
                        "Requested by auditor for consumer '%s': reconciliation since PT24H, and replay of what is missing from 2000-01-01T00:00:00Z"
                                .formatted(this.consumer));
        Search missing = this.app.bean(MeterRegistry.class).find("idempotency.reconciliation.missing");
        // The gauge is updated at the end of the reconciliation.
        Awaitility.await()
                .until(() -> missing.tag("consumer", this.consumer).gauge().value() == 0);
    }

    private String post(Actuator user, String path, String more, int status) {
        return user.post(path, "{'consumer': '" + this.consumer + "'" + more + "}", status);
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
            return new InMemoryUserDetailsManager(Stream.of("clerk", "auditor")
                    .map(name -> User.withUsername(name)
                            .password("{noop}password")
                            .roles(name)
                            .build())
                    .toList());
        }
    }
}
