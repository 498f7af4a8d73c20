package dev.idempotency.benchmarks.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Draws a chart as an SVG file. It is transparent, and its colors are readable on light and dark pages. Lines also differ
 * by their marks and dashes.
 */
final class SvgChart {

    private static final int WIDTH = 720;
    private static final int HEIGHT = 400;
    private static final int LEFT = 80;
    private static final int RIGHT = 24;
    private static final int TOP = 44;
    private static final int BELOW = 56;
    private static final int LEGEND_LINE = 22;
    private static final int STEPS = 5;
    private static final double MARK = 5;

    private static final String INK = "#7a828c";

    private record Style(String colour, String dashes) {}

    private static final List<Style> STYLES = List.of(
            new Style("#7a828c", "6 4"), //
            new Style("#3b82f6", ""),
            new Style("#d97706", ""),
            new Style("#16a34a", "2 3"),
            new Style("#c026d3", "8 3 2 3"));

    private final LineChart chart;
    private final double topOfScale;
    private final StringBuilder svg = new StringBuilder();

    private SvgChart(LineChart chart) {
        this.chart = chart;
        this.topOfScale = roundUp(chart.greatestY());
    }

    static String draw(LineChart chart) {
        return new SvgChart(chart).draw();
    }

    private String draw() {
        int height = HEIGHT + 8 + LEGEND_LINE * this.chart.lines().size();
        add("""
                <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %1$d %2$d" role="img" \
                aria-labelledby="title desc" font-family="sans-serif" font-size="13" fill="%s">
                <title id="title">%s</title>
                <desc id="desc">%s</desc>
                """, WIDTH, height, INK, escape(this.chart.title()), escape(this.chart.description()));
        text(WIDTH / 2.0, 22, "middle", "font-size=\"15\" font-weight=\"bold\"", this.chart.title());
        axes();
        for (int i = 0; i < this.chart.lines().size(); i++) {
            line(this.chart.lines().get(i), i);
        }
        return this.svg.append("</svg>\n").toString();
    }

    private void axes() {
        for (int step = 0; step <= STEPS; step++) {
            double value = this.topOfScale * step / STEPS;
            add(
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%2$.1f\" stroke=\"%s\" stroke-opacity=\"%s\"/>\n",
                    LEFT, y(value), WIDTH - RIGHT, INK, (step == 0) ? "1" : "0.3");
            text(LEFT - 8, y(value) + 4, "end", "", LineChart.number(value));
        }
        for (double place : this.chart.places()) {
            text(x(place), HEIGHT - BELOW + 20, "middle", "", LineChart.number(place));
        }
        text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BELOW + 42, "middle", "", this.chart.horizontal());
        double middle = (TOP + HEIGHT - BELOW) / 2.0;
        text(18, middle, "middle", format("transform=\"rotate(-90 18 %.1f)\"", middle), this.chart.vertical());
    }

    private void line(LineChart.Line line, int number) {
        Style style = STYLES.get(number % STYLES.size());
        String path = line.points().stream()
                .map(point -> format("%.1f,%.1f", x(point.x()), y(point.y().median())))
                .collect(Collectors.joining(" "));
        add("<g stroke=\"%s\" fill=\"%1$s\">\n", style.colour());
        add(
                "<polyline points=\"%s\" fill=\"none\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
                path, style.dashes().isEmpty() ? "none" : style.dashes());
        for (LineChart.Point point : line.points()) {
            add(
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%1$.1f\" y2=\"%.1f\" stroke-opacity=\"0.6\"/>\n",
                    x(point.x()), y(point.y().least()), y(point.y().greatest()));
            mark(
                    x(point.x()),
                    y(point.y().median()),
                    number,
                    line.name() + ", " + LineChart.number(point.x()) + ": "
                            + LineChart.number(point.y().median()));
        }
        add("</g>\n");
        double below = HEIGHT + 8 + LEGEND_LINE * number;
        add(
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%2$.1f\" stroke=\"%s\" stroke-width=\"2\""
                        + " stroke-dasharray=\"%s\"/>\n",
                LEFT, below, LEFT + 36, style.colour(), style.dashes().isEmpty() ? "none" : style.dashes());
        add("<g fill=\"%s\">\n", style.colour());
        mark(LEFT + 18, below, number, "");
        add("</g>\n");
        text(LEFT + 46, below + 4, "start", "", line.name());
    }

    /** Adds a mark, whose shape depends on the line; its value is shown as a tooltip. */
    private void mark(double x, double y, int number, String tip) {
        String kind = tip.isEmpty() ? "legend" : "point";
        String title = tip.isEmpty() ? "" : "<title>" + escape(tip) + "</title>";
        switch (number % 3) {
            case 0 ->
                add("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">%s</circle>\n", kind, x, y, MARK, title);
            case 1 ->
                add(
                        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%4$.1f\">%s</rect>\n",
                        kind, x - MARK, y - MARK, 2 * MARK, title);
            default ->
                add(
                        "<path class=\"%s\" d=\"M %.1f %.1f l %.1f %.1f l %.1f 0 z\">%s</path>\n",
                        kind, x, y - 1.3 * MARK, 1.2 * MARK, 2.2 * MARK, -2.4 * MARK, title);
        }
    }

    private void text(double x, double y, String anchor, String more, String text) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n",
                x, y, anchor, more.isEmpty() ? "" : " " + more, escape(text));
    }

    private double x(double value) {
        double greatest = this.chart.greatestX();
        return LEFT + 24 + (WIDTH - LEFT - RIGHT - 48) * ((greatest == 0) ? 0 : value / greatest);
    }

    private double y(double value) {
        return HEIGHT - BELOW - (HEIGHT - TOP - BELOW) * value / this.topOfScale;
    }

    /** Rounds up to a round number whose fifths are round, too. */
    private static double roundUp(double value) {
        if (value <= 0) {
            return 1;
        }
        double unit = Math.pow(10, Math.floor(Math.log10(value)));
        for (double step : new double[] {1, 1.5, 2, 2.5, 3, 4, 5, 7.5}) {
            if (value <= step * unit) {
                return step * unit;
            }
        }
        return 10 * unit;
    }

    private void add(String format, Object... values) {
        this.svg.append(format(format, values));
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
