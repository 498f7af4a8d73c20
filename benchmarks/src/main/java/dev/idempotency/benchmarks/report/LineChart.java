package dev.idempotency.benchmarks.report;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A line chart.
 *
 * @param name the name of its file, without prefix and suffix
 * @param title the title
 * @param horizontal the label of the horizontal axis, with its unit
 * @param vertical the label of the vertical axis, with its unit
 * @param lines the compared lines
 */
public record LineChart(String name, String title, String horizontal, String vertical, List<Line> lines) {

    public LineChart {
        if (lines.stream().allMatch(line -> line.points().isEmpty())) {
            throw new IllegalArgumentException("There is nothing to be drawn in '" + title + "'");
        }
    }

    /** A line of the chart. */
    public record Line(String name, List<Point> points) {

        /** Removes the Markdown of names that are also used in tables. */
        public Line {
            name = name.replace("`", "");
        }
    }

    /** A measurement: the median, and the bounds between which it lies. */
    public record Point(double x, Spread y) {}

    /** Returns a text description of the chart, for accessibility. */
    public String description() {
        return this.lines.stream()
                .map(line -> line.name() + ": " + describe(line.points()))
                .collect(Collectors.joining("; ", this.vertical + " by " + this.horizontal + ". ", "."));
    }

    private static String describe(List<Point> points) {
        return points.stream()
                .map(point -> number(point.y().median()) + " at " + number(point.x()))
                .collect(Collectors.joining(", "));
    }

    /** Formats large numbers without decimal places, and others with at most two. */
    static String number(double value) {
        if (Math.abs(value) >= 100 || value == Math.rint(value)) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, "%.2f", value).replaceFirst("0$", "");
    }

    double greatestX() {
        return greatest(Point::x);
    }

    double greatestY() {
        return greatest(point -> point.y().greatest());
    }

    /** Returns the distinct x values of all points, in ascending order. */
    double[] places() {
        return points().mapToDouble(Point::x).sorted().distinct().toArray();
    }

    private double greatest(ToDoubleFunction<Point> value) {
        return points().mapToDouble(value).reduce(0, Math::max);
    }

    private Stream<Point> points() {
        return this.lines.stream().map(Line::points).flatMap(Collection::stream);
    }
}
