package dev.idempotency.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.app.PrometheusScrape;
import dev.idempotency.app.PrometheusScrape.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.util.ReflectionUtils;
import org.yaml.snakeyaml.Yaml;

/** Compares the queries of the dashboard and of the alerts with what a running application exports. */
@ExtendWith(ObservedApplication.Shared.class)
class DashboardAndAlertsIT {

    private static final Path FOLDER = Path.of("..", "observability");
    private static final Pattern METRIC = Pattern.compile("\\b(idempotency_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

    private final PrometheusScrape scrape;

    DashboardAndAlertsIT(ObservedApplication app) {
        this.scrape = PrometheusScrape.of(app);
    }

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

    /** Each of its metrics is exported, with the labels and the values that are asked for. */
    private void requireAnswer(String query) {
        List<MatchResult> metrics = METRIC.matcher(query).results().toList();
        assertThat(metrics).as(query).isNotEmpty();
        for (MatchResult metric : metrics) {
            List<Series> exported = this.scrape.all().stream()
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
