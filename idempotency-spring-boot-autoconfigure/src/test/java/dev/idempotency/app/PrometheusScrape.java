package dev.idempotency.app;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The metrics that Prometheus would scrape from a running application, in its text format. */
public record PrometheusScrape(List<Series> all) {

    private static final Pattern LINE = Pattern.compile("([a-zA-Z_:][\\w:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** One line of the scrape. */
    public record Series(String name, Map<String, String> labels, double value) {}

    public static PrometheusScrape of(ObservedApplication app) {
        String text = app.actuator().ok("/prometheus");
        return new PrometheusScrape(text.lines()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .map(PrometheusScrape::series)
                .toList());
    }

    private static Series series(String line) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("Not a line of the text format: " + line);
        }
        String labels = (matcher.group(2) != null) ? matcher.group(2) : "";
        return new Series(
                matcher.group(1),
                LABEL.matcher(labels)
                        .results()
                        .collect(Collectors.toMap(label -> label.group(1), label -> label.group(2))),
                Double.parseDouble(matcher.group(3).replace("Inf", "Infinity")));
    }

    /** The series with this name and at least these labels. */
    public List<Series> series(String name, Map<String, String> labels) {
        return this.all.stream()
                .filter(series ->
                        series.name().equals(name) && series.labels().entrySet().containsAll(labels.entrySet()))
                .toList();
    }

    /** The value of the only such series. */
    public double value(String name, Map<String, String> labels) {
        List<Series> found = series(name, labels);
        if (found.size() != 1) {
            throw new AssertionError("Not one series " + name + labels + " but " + found);
        }
        return found.get(0).value();
    }
}
