package dev.idempotency.benchmarks.report;

import java.util.Locale;

/**
 * One field of a table.
 *
 * @param value what the JSON file says
 * @param text what the table shows
 */
public record Cell(Object value, String text) {

    public static Cell of(String text) {
        return new Cell(text, text);
    }

    /** A number with that many digits after the point. */
    public static Cell of(double value, int digits) {
        return new Cell(value, number(value, digits));
    }

    /** The median of a spread, to be followed by {@link #range}. */
    public static Cell median(Spread spread, int digits) {
        return of(spread.median(), digits);
    }

    /** From the smallest to the greatest. */
    public static Cell range(Spread spread, int digits) {
        String text = number(spread.least(), digits) + " – " + number(spread.greatest(), digits);
        return new Cell(new double[] {spread.least(), spread.greatest()}, text);
    }

    public static Cell none() {
        return new Cell("", "–");
    }

    private static String number(double value, int digits) {
        return String.format(Locale.ROOT, "%,." + digits + "f", value).replace(',', ' ');
    }
}
