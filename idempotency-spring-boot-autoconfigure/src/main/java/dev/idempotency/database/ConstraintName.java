package dev.idempotency.database;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A constraint as somebody writes it down: {@code payment_pkey}, {@code payment.payment_pkey} with its table, or with the
 * schema before that. A part in double quotes is meant to the letter and may contain anything; of others the case does not
 * count, as databases differ in what they make of it.
 *
 * @param schema its table's schema, or {@code null} for those in which tables are found without naming one
 * @param table its table, or {@code null} for any
 * @param name its own name
 */
public record ConstraintName(
        @Nullable Part schema, @Nullable Part table, Part name) {

    private static final Pattern PART = Pattern.compile("\"((?:[^\"]|\"\")+)\"|([^\".]+)");

    /**
     * One of its parts.
     *
     * @param exact whether the case counts
     */
    record Part(String text, boolean exact) {

        boolean means(String found) {
            return this.exact ? this.text.equals(found) : this.text.equalsIgnoreCase(found);
        }
    }

    /**
     * Reads a name.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static ConstraintName parse(String text) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = PART.matcher(text);
        int end = 0;
        while (matcher.find(end) && matcher.start() == end) {
            parts.add(
                    (matcher.group(1) != null)
                            ? new Part(matcher.group(1).replace("\"\"", "\""), true)
                            : new Part(matcher.group(2).strip(), false));
            end = matcher.end();
            if (end == text.length() || text.charAt(end) != '.') {
                break;
            }
            end++;
        }
        int count = parts.size();
        boolean blank = parts.stream().anyMatch(part -> part.text().isBlank());
        if (count == 0 || count > 3 || blank || end != text.length() || text.endsWith(".")) {
            throw new IllegalArgumentException(
                    ("'%s' is no name of a constraint: write \"payment_pkey\", \"payment.payment_pkey\" or"
                                    + " \"schema.payment.payment_pkey\", with names that contain a dot in double quotes")
                            .formatted(text));
        }
        return new ConstraintName(
                (count > 2) ? parts.get(0) : null, (count > 1) ? parts.get(count - 2) : null, parts.get(count - 1));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Part part : new @Nullable Part[] {this.schema, this.table, this.name}) {
            if (part != null) {
                text.append(text.isEmpty() ? "" : ".").append(part.text());
            }
        }
        return text.toString();
    }
}
