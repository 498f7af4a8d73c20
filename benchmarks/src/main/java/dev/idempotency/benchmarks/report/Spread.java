package dev.idempotency.benchmarks.report;

import java.util.List;

/**
 * Several measurements of the same thing.
 *
 * @param median the one in the middle
 * @param least the smallest
 * @param greatest the greatest
 */
public record Spread(double median, double least, double greatest) {

    public static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("There is no median of nothing");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median =
                (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
    }
}
