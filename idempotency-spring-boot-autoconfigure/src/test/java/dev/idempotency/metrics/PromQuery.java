package dev.idempotency.metrics;

import dev.idempotency.app.PrometheusScrape;
import dev.idempotency.app.PrometheusScrape.Series;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names in a PromQL query: metrics with their label matchers, and labels that it groups or joins by. */
record PromQuery(String text, List<Selector> selectors, Set<String> groupingLabels) {

    /** Given by Prometheus when it scrapes, not by the application. */
    private static final Set<String> TARGET_LABELS = Set.of("job", "instance");

    private static final Set<String> GROUPING = Set.of("by", "without", "on", "ignoring", "group_left", "group_right");
    private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset", "atan2");
    private static final Pattern TOKEN = Pattern.compile("(?<string>\"[^\"]*\"|'[^']*')|(?<range>\\[[^\\]]*])"
            + "|(?<number>\\d[\\w.]*)|(?<name>[a-zA-Z_:][\\w:]*)|(?<other>\\S)");
    private static final Pattern SET_OPERATOR_ON =
            Pattern.compile("\\b(?:and|or|unless)\\s+(?:on|ignoring)\\s*\\([^)]*\\)");
    private static final Pattern LABELS = Pattern.compile("\\s*\\(([^)]*)\\)");
    private static final Pattern MATCHERS = Pattern.compile("\\s*\\{([^}]*)}");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

    /** A metric and what its labels must be like. */
    record Selector(String metric, List<LabelMatcher> matchers) {}

    /** What a label must be like. */
    record LabelMatcher(String label, String operator, String value) implements Predicate<Series> {

        @Override
        public boolean test(Series series) {
            String actual = series.labels().getOrDefault(this.label, "");
            return switch (this.operator) {
                case "=" -> actual.equals(this.value);
                case "!=" -> !actual.equals(this.value);
                case "=~" -> actual.matches(this.value);
                default -> !actual.matches(this.value);
            };
        }

        private boolean isChosenByTheReader() {
            return this.value.contains("$");
        }
    }

    static PromQuery parse(String text) {
        List<Selector> selectors = new ArrayList<>();
        Set<String> grouping = new LinkedHashSet<>();
        Matcher token = TOKEN.matcher(text);
        int from = 0;
        while (token.find(from)) {
            from = token.end();
            String name = token.group("name");
            if (name == null || OPERATORS.contains(name)) {
                continue;
            }
            Matcher labels = LABELS.matcher(text).region(from, text.length());
            Matcher matchers = MATCHERS.matcher(text).region(from, text.length());
            if (GROUPING.contains(name)) {
                if (labels.lookingAt()) {
                    List.of(labels.group(1).split(",")).forEach(label -> grouping.add(label.strip()));
                    from = labels.end();
                }
            } else if (matchers.lookingAt()) {
                selectors.add(new Selector(name, matchers(matchers.group(1))));
                from = matchers.end();
            } else if (!isCall(text, from)) {
                selectors.add(new Selector(name, List.of()));
            }
        }
        return new PromQuery(text, selectors, grouping);
    }

    private static List<LabelMatcher> matchers(String text) {
        return MATCHER.matcher(text)
                .results()
                .map(match -> new LabelMatcher(match.group(1), match.group(2), match.group(3)))
                .toList();
    }

    /** A function, or an aggregation with its labels before the parenthesis. */
    private static boolean isCall(String text, int from) {
        return text.substring(from).matches("(?s)\\s*(\\(|by\\b|without\\b).*");
    }

    /** What in this query the application does not export; nothing if the query can answer. */
    List<String> problems(PrometheusScrape scrape, Set<String> legendLabels) {
        List<String> problems = new ArrayList<>();
        // Sets that are put together on some of their labels may each have others.
        for (String set : SET_OPERATOR_ON.split(this.text)) {
            problems.addAll(parse(set).problems(scrape));
        }
        legendLabels.stream()
                .filter(label -> !this.groupingLabels.contains(label))
                .forEach(label -> problems.add("the legend's label " + label + " is not one that is grouped by"));
        return problems;
    }

    private List<String> problems(PrometheusScrape scrape) {
        List<String> problems = new ArrayList<>();
        if (this.selectors.isEmpty()) {
            problems.add("no metric in: " + this.text);
        }
        for (Selector selector : this.selectors) {
            List<Series> exported = scrape.all().stream()
                    .filter(series -> series.name().equals(selector.metric()))
                    .toList();
            if (exported.isEmpty()) {
                problems.add("no metric " + selector.metric());
                continue;
            }
            Set<String> labels = exported.get(0).labels().keySet();
            Set<String> used = new LinkedHashSet<>(this.groupingLabels);
            selector.matchers().forEach(matcher -> used.add(matcher.label()));
            used.removeAll(TARGET_LABELS);
            used.removeAll(labels);
            used.forEach(label -> problems.add("no label " + label + " on " + selector.metric()));
            Predicate<Series> fixed = selector.matchers().stream()
                    .filter(matcher -> !matcher.isChosenByTheReader())
                    .map(matcher -> (Predicate<Series>) matcher)
                    .reduce(series -> true, Predicate::and);
            if (exported.stream().noneMatch(fixed)) {
                problems.add("no series " + selector);
            }
            selector.matchers().stream()
                    .filter(matcher -> matcher.operator().equals("=~") && !matcher.isChosenByTheReader())
                    .flatMap(matcher -> List.of(matcher.value().split("\\|")).stream()
                            .filter(value ->
                                    exported.stream().noneMatch(new LabelMatcher(matcher.label(), "=~", value))))
                    .forEach(value -> problems.add("no series " + selector.metric() + " for the value " + value));
        }
        return problems;
    }
}
