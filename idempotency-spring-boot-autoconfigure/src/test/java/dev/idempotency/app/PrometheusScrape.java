package dev.idempotency.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What Prometheus would read from a running application, in its text format. */
public record PrometheusScrape(List<Series> all) {

    private static final Pattern LINE = Pattern.compile("(?m)^([\\w:]+)(?:\\{(.*)})? (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** One line of it. */
    public record Series(String name, Map<String, String> labels, double value) {}

    public static PrometheusScrape of(ObservedApplication app) {
        return new PrometheusScrape(LINE.matcher(app.actuator().ok("/prometheus"))
                .results()
                .map(line -> new Series(
                        line.group(1),
                        LABEL.matcher(Objects.requireNonNullElse(line.group(2), ""))
                                .results()
                                .collect(Collectors.toMap(label -> label.group(1), label -> label.group(2))),
                        Double.parseDouble(line.group(3).replace("Inf", "Infinity"))))
                .toList());
    }

    /** The value of the only series with this name and, among others, these labels. */
    public double value(String name, Map<String, String> labels) {
        List<Series> found = this.all.stream()
                .filter(series ->
                        series.name().equals(name) && series.labels().entrySet().containsAll(labels.entrySet()))
                .toList();
        assertThat(found).as(name + labels).hasSize(1);
        return found.get(0).value();
    }
}
