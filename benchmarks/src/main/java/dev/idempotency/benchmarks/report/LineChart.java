package dev.idempotency.benchmarks.report;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Figures that are better looked at than read.
 *
 * @param name the name of its file, without what comes before and after
 * @param title what it shows
 * @param horizontal what is shown from left to right, with its unit
 * @param vertical what is shown from bottom to top, with its unit
 * @param lines what is compared
 */
public record LineChart(String name, String title, String horizontal, String vertical, List<Line> lines) {

    public LineChart {
        if (lines.stream().allMatch(line -> line.points().isEmpty())) {
            throw new IllegalArgumentException("There is nothing to be drawn in '" + title + "'");
        }
    }

    /** One of several that are compared. */
    public record Line(String name, List<Point> points) {

        /** Names may be those of tables, where code is marked as such. */
        public Line {
            name = name.replace("`", "");
        }
    }

    /** A measurement: the median, and the bounds between which it lies. */
    public record Point(double x, Spread y) {}

    /** What the picture shows, for those who do not see it. */
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

    /** Whole if it is great, and with two digits after the point at most if not. */
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

    /** All places from left to right where something was measured. */
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
