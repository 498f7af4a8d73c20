package dev.idempotency.benchmarks.report;

import java.util.List;

/**
 * Several measurements of the same thing.
 *
 * @param median the median
 * @param least the smallest value, or the lower bound
 * @param greatest the greatest value, or the upper bound
 */
public record Spread(double median, double least, double greatest) {

    private static final double TWO_SIDED_95_PERCENT = 1.96;

    public static Spread of(List<Double> values) {
        return of(values, 0);
    }

    /**
     * Returns the median, and its confidence interval of 95 %, whose ranks follow from the binomial distribution with p = 1/2.
     * With few values, the interval is the whole range.
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
