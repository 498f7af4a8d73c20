package dev.idempotency.internal.metrics;

import static dev.idempotency.app.ObservedApplication.BILLING;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.app.PrometheusScrape;
import dev.idempotency.app.PrometheusScrape.Series;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.observation.Observation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.util.ReflectionUtils;
import org.yaml.snakeyaml.Yaml;

/** What a running application exports, and what the dashboard and the alerts ask of it. */
@ExtendWith(ObservedApplication.Shared.class)
class MetersIT {

    private final ObservedApplication app;

    MetersIT(ObservedApplication app) {
        this.app = app;
    }

    @Test
    void whatBecomesOfMessagesIsCountedAfterTheCommit() {
        PrometheusScrape before = PrometheusScrape.of(this.app);
        String id = unique();
        this.app.bill(id, "counted");
        this.app.bill(id, "counted");
        this.app.bill(unique(), "fail");
        this.app.bill("", "no key");
        PrometheusScrape after = PrometheusScrape.of(this.app);
        for (String outcome : List.of("processed", "duplicate", "failed", "missing_key")) {
            assertThat(difference(before, after, "idempotency_messages_total", "outcome", outcome))
                    .as(outcome)
                    .isEqualTo(1);
        }
        assertThat(difference(before, after, "idempotency_dedup_hits_total", "kind", "republication"))
                .isEqualTo(1);
        assertThat(difference(before, after, "idempotency_dedup_hits_total", "kind", "redelivery"))
                .isZero();
        assertThat(difference(before, after, "idempotency_claim_seconds_count", "result", "claimed"))
                .as("the one that was processed and the one that failed")
                .isEqualTo(2);
        assertThat(difference(before, after, "idempotency_claim_seconds_count", "result", "duplicate"))
                .isEqualTo(1);
        assertThat(billing(after, "idempotency_listener_seconds_count")
                        - billing(before, "idempotency_listener_seconds_count"))
                .as("neither the duplicate nor the failure")
                .isEqualTo(1);
        assertThat(billing(after, "idempotency_dedup_age_seconds_count")
                        - billing(before, "idempotency_dedup_age_seconds_count"))
                .isEqualTo(1);
    }

    @Test
    void aConsumerHasFewSeriesAndBucketsOnlyForAgesUpToTheRetention() {
        this.app.bill(unique(), "delivered");
        PrometheusScrape scrape = PrometheusScrape.of(this.app);
        assertThat(scrape.all())
                .filteredOn(series -> BILLING.equals(series.labels().get("consumer")))
                .hasSizeBetween(30, 60);
        double thirtyDays = Duration.ofDays(30).toSeconds();
        assertThat(scrape.all())
                .filteredOn(series -> series.name().startsWith("idempotency_")
                        && series.labels().containsKey("le"))
                .allSatisfy(series -> assertThat(series.name()).isEqualTo("idempotency_dedup_age_seconds_bucket"))
                .extracting(series -> series.labels().get("le"))
                .anyMatch(le -> !le.equals("+Inf") && Double.parseDouble(le) == thirtyDays);
        assertThat(billing(scrape, "idempotency_retention_seconds")).isEqualTo(thirtyDays);
        assertThat(billing(scrape, "idempotency_lag_seconds_max")).isPositive();
    }

    @Test
    void theCleanupIsCountedAndTimed() {
        PrometheusScrape before = PrometheusScrape.of(this.app);
        long behind = this.app.cleanUp(limit -> limit).deleted();
        this.app.cleanUp(limit -> 42);
        this.app.cleanUp(limit -> {
            throw new IllegalStateException("told to fail");
        });
        PrometheusScrape after = PrometheusScrape.of(this.app);
        assertThat(after.value("idempotency_cleanup_deleted_total", Map.of())
                        - before.value("idempotency_cleanup_deleted_total", Map.of()))
                .isEqualTo(behind + 42);
        assertThat(after.value("idempotency_cleanup_failures_total", Map.of())
                        - before.value("idempotency_cleanup_failures_total", Map.of()))
                .isEqualTo(1);
        Stream.of("complete", "behind").map(result -> Map.of("result", result)).forEach(result -> assertThat(
                        after.value("idempotency_cleanup_seconds_count", result)
                                - before.value("idempotency_cleanup_seconds_count", result))
                .isEqualTo(1));
    }

    @Test
    void theListenersObservationCarriesConsumerOutcomeAndMessage() {
        int before = this.app.billingObservations().size();
        String id = unique();
        this.app.bill(id, "traced");
        this.app.bill(id, "traced");
        this.app.bill(unique(), "fail");
        this.app.bill("", "no key");
        List<Observation.Context> observations = Awaitility.await()
                .until(this.app::billingObservations, ended -> ended.size() >= before + 4)
                .subList(before, before + 4);
        assertThat(observations)
                .extracting(context -> value(context, MicrometerObservationListener.OUTCOME))
                .containsExactly("processed", "duplicate", "failed", "missing_key");
        assertThat(observations)
                .extracting(context -> value(context, MicrometerObservationListener.CONSUMER))
                .containsOnly(BILLING);
        assertThat(observations.subList(0, 2))
                .extracting(context -> value(context, MicrometerObservationListener.MESSAGE_ID))
                .containsOnly(id);
        Instant original =
                Instant.parse(value(observations.get(1), MicrometerObservationListener.ORIGINAL_PROCESSED_AT));
        assertThat(original).isBefore(Instant.now().plusSeconds(60));
        assertThat(observations)
                .as("ids, outcomes and consumers must not become tags of Spring Kafka's timer")
                .allSatisfy(context -> assertThat(context.getLowCardinalityKeyValues())
                        .noneMatch(keyValue -> keyValue.getKey().startsWith("idempotency")));
    }

    private static String value(Observation.Context context, String key) {
        return context.getHighCardinalityKeyValue(key) != null
                ? context.getHighCardinalityKeyValue(key).getValue()
                : "absent";
    }

    private static double difference(
            PrometheusScrape before, PrometheusScrape after, String metric, String label, String value) {
        Map<String, String> labels = Map.of("consumer", BILLING, label, value);
        return after.value(metric, labels) - before.value(metric, labels);
    }

    private static double billing(PrometheusScrape scrape, String metric) {
        return scrape.value(metric, Map.of("consumer", BILLING));
    }

    private static String unique() {
        return UUID.randomUUID().toString();
    }

    private static final Path FOLDER = Path.of("..", "observability");
    private static final Pattern METRIC = Pattern.compile("\\b(idempotency_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

    @Test
    void everyQueryOfTheDashboardIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        PrometheusScrape scrape = PrometheusScrape.of(this.app);
        List<String> queries = JsonPath.read(dashboard(), "$.panels[*].targets[*].expr");
        List<String> variables = JsonPath.read(dashboard(), "$.templating.list[?(@.type == 'query')].query.query");
        assertThat(queries).hasSizeGreaterThan(20).allSatisfy(query -> requireAnswer(scrape, query));
        assertThat(variables).isNotEmpty().allSatisfy(query -> requireAnswer(scrape, query));
    }

    @Test
    void everyAlertIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        PrometheusScrape scrape = PrometheusScrape.of(this.app);
        String yaml = Files.readString(FOLDER.resolve("prometheus/idempotency-alerts.yml"));
        List<String> queries = JsonPath.read(new Yaml().<Object>load(yaml), "$.groups[*].rules[*].expr");
        assertThat(queries).hasSizeGreaterThan(5).allSatisfy(query -> requireAnswer(scrape, query));
    }

    /** Each of its metrics is exported, with the labels and the values that are asked for. */
    private static void requireAnswer(PrometheusScrape scrape, String query) {
        List<MatchResult> metrics = METRIC.matcher(query).results().toList();
        assertThat(metrics).as(query).isNotEmpty();
        for (MatchResult metric : metrics) {
            List<Series> exported = scrape.all().stream()
                    .filter(series -> series.name().equals(metric.group(1)))
                    .toList();
            assertThat(exported).as(metric.group()).isNotEmpty();
            String labels = (metric.group(2) != null) ? metric.group(2) : "";
            MATCHER.matcher(labels).results().forEach(matcher -> {
                List<String> values = new ArrayList<>();
                exported.forEach(series -> values.add(series.labels().get(matcher.group(1))));
                if (!matcher.group(1).matches("job|instance")) {
                    assertThat(values).as(metric.group()).doesNotContainNull();
                    if (matcher.group(2).equals("=") && !matcher.group(3).contains("$")) {
                        assertThat(values).as(metric.group()).contains(matcher.group(3));
                    }
                    if (matcher.group(2).equals("=~") && !matcher.group(3).contains("$")) {
                        assertThat(values)
                                .as(metric.group())
                                .contains(matcher.group(3).split("\\|"));
                    }
                }
            });
        }
    }

    @Test
    void everyMeterIsShownOnTheDashboard() throws IOException {
        List<String> queries = JsonPath.read(dashboard(), "$.panels[*].targets[*].expr");
        List<String> shown = queries.stream()
                .flatMap(query -> METRIC.matcher(query).results())
                .map(metric -> metric.group(1))
                .toList();
        assertThat(Stream.of(IdempotencyMeters.class.getFields())
                        .map(field -> (String) ReflectionUtils.getField(field, null))
                        .filter(name -> name.startsWith("idempotency.")))
                .hasSizeGreaterThan(8)
                .allSatisfy(meter -> {
                    Pattern exported = Pattern.compile(meter.replace('.', '_') + "(_total|_seconds(_\\w+)?)?");
                    assertThat(shown).anyMatch(exported.asMatchPredicate());
                });
    }

    private static String dashboard() throws IOException {
        return Files.readString(FOLDER.resolve("grafana/idempotency-dashboard.json"));
    }
}
