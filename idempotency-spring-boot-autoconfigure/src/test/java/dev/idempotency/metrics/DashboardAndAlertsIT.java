package dev.idempotency.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.ObservedApplication;
import dev.idempotency.app.PrometheusScrape;
import java.io.IOException;
import java.io.Writer;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.yaml.snakeyaml.Yaml;

/** Holds every query of the dashboard and of the alerts against what a running application really exports. */
@ExtendWith(ObservedApplication.Shared.class)
class DashboardAndAlertsIT {

    private static final Path FOLDER = Path.of("..", "observability");
    private static final Pattern LEGEND_LABEL = Pattern.compile("\\{\\{\\s*(\\w+)\\s*}}");
    private static final Pattern ANNOTATION_LABEL = Pattern.compile("\\$labels\\.(\\w+)");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*),\\s*(\\w+)\\)");

    private final ObservedApplication app;
    private final PrometheusScrape scrape;

    DashboardAndAlertsIT(ObservedApplication app) {
        this.app = app;
        this.scrape = PrometheusScrape.of(app);
    }

    private record Query(String where, String expression, Set<String> legendLabels) {

        List<String> problems(PrometheusScrape scrape) {
            return PromQuery.parse(this.expression).problems(scrape, this.legendLabels).stream()
                    .map(problem -> this.where + ": " + problem)
                    .toList();
        }
    }

    @Test
    void everyQueryOfTheDashboardIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        List<Query> queries = dashboardQueries();
        assertThat(queries).hasSizeGreaterThan(20);
        assertThat(queries.stream().flatMap(query -> query.problems(this.scrape).stream()))
                .isEmpty();
    }

    @Test
    void everyAlertIsAnsweredByTheMetersOfARunningApplication() throws IOException {
        List<Query> queries = alertQueries();
        assertThat(queries).hasSizeGreaterThan(5);
        assertThat(queries.stream().flatMap(query -> query.problems(this.scrape).stream()))
                .isEmpty();
    }

    @Test
    void everyVariableOfTheDashboardIsFilledByTheMetersOfARunningApplication() throws IOException {
        List<String> variables = JsonPath.read(dashboard(), "$.templating.list[?(@.type == 'query')].query.query");
        assertThat(variables).isNotEmpty().allSatisfy(variable -> {
            MatchResult values = LABEL_VALUES
                    .matcher(variable)
                    .results()
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("Not label_values: " + variable));
            String grouped = "sum by (%s) (%s)".formatted(values.group(2), values.group(1));
            assertThat(PromQuery.parse(grouped).problems(this.scrape, Set.of())).isEmpty();
        });
    }

    @Test
    void everyMeterIsShownOnTheDashboard() throws IOException {
        Set<String> shown = dashboardQueries().stream()
                .flatMap(query -> PromQuery.parse(query.expression()).selectors().stream())
                .map(PromQuery.Selector::metric)
                .collect(Collectors.toSet());
        assertThat(meterNames()).hasSizeGreaterThan(8).allSatisfy(meter -> {
            Pattern exported = Pattern.compile(meter.replace('.', '_') + "(_total|_seconds(_\\w+)?)?");
            assertThat(shown).anyMatch(exported.asMatchPredicate());
        });
    }

    /** Skipped where there is no promtool, which comes with Prometheus. */
    @Test
    void prometheusFindsNoFaultWithTheMetersOfARunningApplication() throws IOException, InterruptedException {
        Process promtool;
        try {
            promtool = new ProcessBuilder("promtool", "check", "metrics")
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException ex) {
            assumeThat(false).as("promtool is not installed").isTrue();
            return;
        }
        try (Writer input = promtool.outputWriter(StandardCharsets.UTF_8)) {
            input.write(ours(this.app.get("/prometheus").body()));
        }
        String findings = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(findings).isZero();
    }

    private static String ours(String scrape) {
        return scrape.lines()
                .filter(line -> line.replaceFirst("^# (HELP|TYPE) ", "").startsWith("idempotency_"))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    @Test
    void theDashboardTakesItsDataSourceFromItsVariable() throws IOException {
        assertThat(JsonPath.<List<String>>read(dashboard(), "$..datasource.uid"))
                .containsOnly("${datasource}");
    }

    private static List<String> meterNames() {
        return Stream.of(IdempotencyMeters.class.getFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()))
                .map(DashboardAndAlertsIT::value)
                .filter(name -> name.startsWith("idempotency."))
                .toList();
    }

    private static String value(Field field) {
        try {
            return (String) field.get(null);
        } catch (IllegalAccessException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static String dashboard() throws IOException {
        return Files.readString(FOLDER.resolve("grafana/idempotency-dashboard.json"));
    }

    private static List<Query> dashboardQueries() throws IOException {
        List<Query> queries = new ArrayList<>();
        List<Map<String, Object>> panels = JsonPath.read(dashboard(), "$.panels[?(@.targets)]");
        for (Map<String, Object> panel : panels) {
            List<Map<String, Object>> targets = JsonPath.read(panel, "$.targets");
            for (Map<String, Object> target : targets) {
                queries.add(new Query(
                        "panel '" + panel.get("title") + "'", (String) target.get("expr"), labels(LEGEND_LABEL, (String)
                                target.get("legendFormat"))));
            }
        }
        return queries;
    }

    private static List<Query> alertQueries() throws IOException {
        String yaml = Files.readString(FOLDER.resolve("prometheus/idempotency-alerts.yml"));
        List<Map<String, Object>> rules = JsonPath.read(new Yaml().<Object>load(yaml), "$.groups[*].rules[*]");
        return rules.stream()
                .map(rule -> new Query(
                        "alert " + rule.get("alert"),
                        (String) rule.get("expr"),
                        labels(ANNOTATION_LABEL, rule.get("annotations").toString())))
                .toList();
    }

    private static Set<String> labels(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(match -> match.group(1)).collect(Collectors.toSet());
    }
}
