package dev.idempotency.app;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Prometheus would read from a running application, in its text format. */
public record PrometheusScrape(List<Series> all) {

    private static final Pattern LINE =
            Pattern.compile("(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(\\{(?<labels>.*)})? (?<value>[^ ]+)");
    private static final Pattern LABEL = Pattern.compile("(?<name>[a-zA-Z_]\\w*)=\"(?<value>(?:[^\"\\\\]|\\\\.)*)\"");

    /** One line of it. */
    public record Series(String name, Map<String, String> labels, double value) {}

    public static PrometheusScrape of(ObservedApplication app) {
        return parse(app.actuator().ok("/prometheus"));
    }

    public static PrometheusScrape parse(String text) {
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
        Map<String, String> labels = new LinkedHashMap<>();
        if (matcher.group("labels") != null) {
            LABEL.matcher(matcher.group("labels"))
                    .results()
                    .forEach(label -> labels.put(label.group(1), label.group(2)));
        }
        String value = matcher.group("value").replace("Inf", "Infinity");
        return new Series(matcher.group("name"), labels, Double.parseDouble(value));
    }

    /** The series with this name and, among others, these labels. */
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
