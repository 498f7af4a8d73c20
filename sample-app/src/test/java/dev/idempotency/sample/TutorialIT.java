package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.client.RestClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Runs the commands of {@code docs/tutorial.md} in order, and awaits the documented responses. Counters are compared by their
 * growth, as other tests may have used the application before.
 */
@SampleTest
class TutorialIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final List<String> CONSUMERS = List.of("ledger", "turnover", "receipts", "points");

    private static final Pattern BLOCK = Pattern.compile("(?s)```(shell|json)\\n(.*?)```");
    private static final Pattern CURL =
            Pattern.compile("curl (?:-X (\\w+) )?(?:-H '[^']*' )?(?:-d '([^']*)' )?'localhost:8080([^']*)'");

    private static final Set<String> COUNTERS =
            Set.of("processed", "duplicate", "failed", "republication", "redelivery", "value");

    /** Properties whose values differ in each run. */
    private static final Set<String> ANY = Set.of(
            "id", "account", "amount", "name", "paidIn", "protectedBalance", "unprotectedBalance", "processedAt");

    private final JsonMapper json = new JsonMapper();
    private final Map<String, JsonNode> before = new HashMap<>();
    private final JdbcClient jdbc;
    private final RestClient http;
    private String paymentId = "";

    TutorialIT(@Autowired JdbcClient jdbc, @LocalServerPort int port) {
        this.jdbc = jdbc;
        this.http = RestClient.create("http://localhost:" + port);
    }

    @Test
    void everyCommandAnswersAsThePageSays() throws IOException {
        String page = Files.readString(Path.of("../docs/tutorial.md"));
        CURL.matcher(page)
                .results()
                .map(command -> command.group(3))
                .filter(uri -> uri.contains("ledger&tag") || uri.endsWith("=ledger"))
                .forEach(uri -> this.before.computeIfAbsent(uri, this::get));
        assertThat(this.before).hasSizeGreaterThan(2);

        String uri = "";
        JsonNode answer = JsonNodeFactory.instance.missingNode();
        for (MatchResult block : BLOCK.matcher(page).results().toList()) {
            if (block.group(1).equals("json")) {
                check(uri, answer, this.json.readTree(block.group(2)));
            }
            for (MatchResult command : CURL.matcher(block.group(2)).results().toList()) {
                uri = command.group(3);
                answer = "POST".equals(command.group(1))
                        ? post(uri, command.group(2))
                        : JsonNodeFactory.instance.missingNode();
            }
        }
    }

    /** Checks a response; a read-only request is repeated until the response is as documented. */
    private void check(String uri, JsonNode answer, JsonNode shown) {
        if (answer.isMissingNode()) {
            JsonNode before = this.before.getOrDefault(uri, answer);
            await(uri).atMost(PATIENCE).untilAsserted(() -> {
                JsonNode now = get(uri);
                assertThat(isShown(shown, before, now))
                        .as("%s answers %s, before %s", uri, now, before)
                        .isTrue();
            });
        } else {
            assertThat(isShown(shown, JsonNodeFactory.instance.missingNode(), answer))
                    .as("%s answers %s", uri, answer)
                    .isTrue();
        }
    }

    private static boolean isShown(JsonNode shown, JsonNode before, JsonNode now) {
        if (shown.isObject()) {
            return shown.propertyNames().stream()
                    .allMatch(name -> now.has(name)
                            && (ANY.contains(name)
                                    || (COUNTERS.contains(name)
                                                    && shown.get(name).isNumber()
                                            ? now.get(name).asDouble()
                                                            - before.path(name).asDouble(0)
                                                    == shown.get(name).asDouble()
                                            : isShown(shown.get(name), before.path(name), now.get(name)))));
        }
        if (shown.isArray()) {
            return shown.valueStream()
                    .allMatch(element -> now.valueStream().anyMatch(each -> isShown(element, before.path(0), each)));
        }
        return shown.equals(now);
    }

    private JsonNode get(String uri) {
        return this.json.readTree(this.http
                .get()
                .uri(uri.replace("<id>", this.paymentId))
                .retrieve()
                .body(String.class));
    }

    private JsonNode post(String uri, String body) {
        if (uri.equals("/api/repairs")) {
            // A slow consumer would succeed after the repair, and have no dead letter.
            CONSUMERS.forEach(this::awaitDeadLetter);
        }
        Books books = Books.read(this.jdbc);
        String answer = this.http
                .method(HttpMethod.POST)
                .uri(uri)
                .contentType(MediaType.APPLICATION_JSON)
                .body((body != null) ? body : "")
                .retrieve()
                .body(String.class);
        JsonNode payment = this.json.readTree((answer != null) ? answer : "{}");
        if (uri.endsWith("times=5")) {
            this.paymentId = payment.get("id").asString();
            BigDecimal amount = payment.get("amount").asDecimal();
            await("five times the amount").atMost(PATIENCE).untilAsserted(() -> {
                Books now = Books.read(this.jdbc);
                assertThat(now.withAnnotation().subtract(books.withAnnotation()))
                        .isEqualByComparingTo(amount);
                assertThat(now.without().subtract(books.without()))
                        .isEqualByComparingTo(amount.multiply(BigDecimal.valueOf(5)));
            });
        }
        return payment;
    }

    private void awaitDeadLetter(String consumer) {
        await("a dead letter of " + consumer).atMost(PATIENCE).untilAsserted(() -> assertThat(
                        get("/actuator/idempotencydeadletters?status=pending&consumer=" + consumer)
                                .get("deadLetters"))
                .isNotEmpty());
    }
}
