package dev.idempotency.benchmarks.report;

import java.util.Locale;

/**
 * A cell of a table.
 *
 * @param value the value in the JSON file
 * @param text the text in the table
 */
public record Cell(Object value, String text) {

    public static Cell of(String text) {
        return new Cell(text, text);
    }

    /** A number with this many decimal places. */
    public static Cell of(double value, int digits) {
        return new Cell(value, number(value, digits));
    }

    /** The median of a spread, to be followed by {@link #range}. */
    public static Cell median(Spread spread, int digits) {
        return of(spread.median(), digits);
    }

    /** The range from the smallest to the greatest value. */
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
