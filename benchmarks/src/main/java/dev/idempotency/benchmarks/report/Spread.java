package dev.idempotency.benchmarks.report;

import java.util.List;

/**
 * Several measurements of the same thing.
 *
 * @param median the one in the middle
 * @param least the smallest, or the lower bound
 * @param greatest the greatest, or the upper bound
 */
public record Spread(double median, double least, double greatest) {

    private static final double TWO_SIDED_95_PERCENT = 1.96;

    public static Spread of(List<Double> values) {
        return of(values, 0);
    }

    /**
     * The median, and the bounds between which it lies with a confidence of 95 %: those of the ranks that a coin thrown
     * for each value would not leave. Few values confide in nothing but their range.
     */
    public static Spread ofMedian(List<Double> values) {
        int size = values.size();
        return of(values, Math.max(0, (int) ((size - TWO_SIDED_95_PERCENT * Math.sqrt(size)) / 2)));
    }

    private static Spread of(List<Double> values, int leftOut) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("There is no median of nothing");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median =
                (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.get(leftOut), sorted.get(sorted.size() - 1 - leftOut));
    }
}
