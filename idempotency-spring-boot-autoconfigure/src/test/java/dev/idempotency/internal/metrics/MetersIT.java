package dev.idempotency.internal.metrics;

import static dev.idempotency.app.ObservedApplication.BILLING;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.app.PrometheusScrape;
import dev.idempotency.app.PrometheusScrape.Series;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.util.ReflectionUtils;
import org.yaml.snakeyaml.Yaml;

/** Meters that a running application exports, and those that the dashboard and the alerts query. */
@ExtendWith(ObservedApplication.Shared.class)
class MetersIT {

    private final ObservedApplication app;
    private final PrometheusScrape before;

    MetersIT(ObservedApplication app) {
        this.app = app;
        this.before = PrometheusScrape.of(app);
    }

    @Test
    void whatBecomesOfMessagesIsCountedAfterTheCommit() {
        this.app.billOneOfEachOutcome();
        assertThat(growth("idempotency_messages_total", "outcome"))
                .isEqualTo(Map.of("processed", 1.0, "duplicate", 1.0, "failed", 1.0, "missing_key", 1.0));
        assertThat(growth("idempotency_dedup_hits_total", "kind")).isEqualTo(Map.of("republication", 1.0));
        assertThat(growth("idempotency_claim_seconds_count", "result"))
                .as("claimed are the one that was processed and the one that failed")
                .isEqualTo(Map.of("claimed", 2.0, "duplicate", 1.0));
        assertThat(growth("idempotency_listener_seconds_count", "consumer"))
                .as("neither the duplicate nor the failure")
                .isEqualTo(Map.of(BILLING, 1.0));
        assertThat(growth("idempotency_dedup_age_seconds_count", "consumer")).isEqualTo(Map.of(BILLING, 1.0));
    }

    @Test
    void theCleanupIsCountedAndTimed() {
        long behind = this.app.cleanUp(limit -> limit).deleted();
        this.app.cleanUp(limit -> 42);
        this.app.cleanUp(limit -> {
            throw new IllegalStateException("told to fail");
        });
        assertThat(growth("idempotency_cleanup_deleted_total", "")).containsOnly(Map.entry("", behind + 42.0));
        assertThat(growth("idempotency_cleanup_failures_total", "")).containsOnly(Map.entry("", 1.0));
        assertThat(growth("idempotency_cleanup_seconds_count", "result"))
                .isEqualTo(Map.of("complete", 1.0, "behind", 1.0));
    }

    /** The growth of series since the start of the test, by the values of a label, without other consumers' series. */
    private Map<String, Double> growth(String metric, String label) {
        Map<String, Double> growth = new TreeMap<>();
        PrometheusScrape.of(this.app).series(metric, Map.of()).stream()
                .filter(series ->
                        series.labels().getOrDefault("consumer", BILLING).equals(BILLING))
                .forEach(series -> growth.put(
                        series.labels().getOrDefault(label, ""),
                        series.value() - this.before.value(metric, series.labels())));
        growth.values().removeIf(grown -> grown == 0);
        return growth;
    }

    @Test
    void aConsumerHasFewSeriesAndBucketsOnlyForAgesUpToTheRetention() {
        this.app.bill(UUID.randomUUID().toString(), "delivered");
        PrometheusScrape scrape = PrometheusScrape.of(this.app);
        Map<String, String> billing = Map.of("consumer", BILLING);
        assertThat(scrape.all())
                .filteredOn(series -> series.labels().entrySet().containsAll(billing.entrySet()))
                .hasSizeBetween(30, 60);
        double thirtyDays = Duration.ofDays(30).toSeconds();
        assertThat(scrape.all())
                .filteredOn(series -> series.name().startsWith("idempotency_")
                        && series.labels().containsKey("le"))
                .allSatisfy(series -> assertThat(series.name()).isEqualTo("idempotency_dedup_age_seconds_bucket"))
                .extracting(series -> series.labels().get("le"))
                .anyMatch(le -> !le.equals("+Inf") && Double.parseDouble(le) == thirtyDays);
        assertThat(scrape.value("idempotency_retention_seconds", billing)).isEqualTo(thirtyDays);
        assertThat(scrape.value("idempotency_lag_seconds_max", billing)).isPositive();
    }

    @Test
    void theListenersObservationCarriesConsumerOutcomeAndMessage() {
        int before = this.app.billingObservations().size();
        String id = this.app.billOneOfEachOutcome();
        List<Observation.Context> observations = Awaitility.await()
                .until(this.app::billingObservations, ended -> ended.size() >= before + 4)
                .subList(before, before + 4);
        assertThat(observations)
                .extracting(context -> value(context, MicrometerObservationListener.CONSUMER)
                        + " " + value(context, MicrometerObservationListener.OUTCOME)
                        + " " + value(context, MicrometerObservationListener.MESSAGE_ID))
                .containsExactly(
                        "billing processed " + id,
                        "billing duplicate " + id,
                        "billing failed absent",
                        "billing missing_key absent");
        Instant original =
                Instant.parse(value(observations.get(1), MicrometerObservationListener.ORIGINAL_PROCESSED_AT));
        assertThat(original).isBefore(Instant.now().plusSeconds(60));
        assertThat(observations)
                .as("ids, outcomes and consumers must not become tags of Spring Kafka's timer")
                .allSatisfy(context -> assertThat(context.getLowCardinalityKeyValues())
                        .noneMatch(keyValue -> keyValue.getKey().startsWith("idempotency")));
    }

    private static String value(Observation.Context context, String key) {
        KeyValue value = context.getHighCardinalityKeyValue(key);
        return (value != null) ? value.getValue() : "absent";
    }

    private static final Path FOLDER = Path.of("..", "observability");
    private static final Pattern METRIC = Pattern.compile("\\b(idempotency_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

    @Test
    void everyQueryOfTheDashboardIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        List<String> queries = JsonPath.read(dashboard(), "$.panels[*].targets[*].expr");
        List<String> variables = JsonPath.read(dashboard(), "$.templating.list[?(@.type == 'query')].query.query");
        assertThat(queries).hasSizeGreaterThan(20).allSatisfy(this::requireAnswer);
        assertThat(variables).isNotEmpty().allSatisfy(this::requireAnswer);
    }

    @Test
    void everyAlertIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        String yaml = Files.readString(FOLDER.resolve("prometheus/idempotency-alerts.yml"));
        List<String> queries = JsonPath.read(new Yaml().<Object>load(yaml), "$.groups[*].rules[*].expr");
        assertThat(queries).hasSizeGreaterThan(5).allSatisfy(this::requireAnswer);
    }

    /** Asserts that each metric of a query is exported, with the labels and values that the query selects. */
    private void requireAnswer(String query) {
        List<MatchResult> metrics = METRIC.matcher(query).results().toList();
        assertThat(metrics).as(query).isNotEmpty();
        for (MatchResult metric : metrics) {
            List<Series> exported = this.before.series(metric.group(1), Map.of());
            assertThat(exported).as(metric.group()).isNotEmpty();
            String labels = (metric.group(2) != null) ? metric.group(2) : "";
            MATCHER.matcher(labels).results().forEach(matcher -> {
                if (!matcher.group(1).matches("job|instance")) {
                    boolean named = matcher.group(2).startsWith("=")
                            && !matcher.group(3).contains("$");
                    String separator = matcher.group(2).equals("=~") ? "\\|" : "(?!)";
                    assertThat(exported)
                            .extracting(series -> series.labels().get(matcher.group(1)))
                            .as(metric.group())
                            .doesNotContainNull()
                            .containsAll(named ? List.of(matcher.group(3).split(separator)) : List.of());
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
