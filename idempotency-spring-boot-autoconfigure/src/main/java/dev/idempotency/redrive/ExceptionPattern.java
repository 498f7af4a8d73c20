package dev.idempotency.redrive;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The class of an exception: its full name, its simple name, or either with {@code *} for any characters, as in
 * {@code java.sql.*} or {@code *TimeoutException}. The text of exceptions is not looked at, as it may quote payloads.
 *
 * @param text the pattern
 */
public record ExceptionPattern(String text) {

    private static final int LONGEST = 300;

    public ExceptionPattern {
        if (text.isBlank() || text.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "The pattern of an exception must have between 1 and %d characters".formatted(LONGEST));
        }
    }

    boolean matches(@Nullable String exception) {
        return exception != null && (matchesName(exception) || matchesName(simpleName(exception)));
    }

    /** The first place that fits is taken, and never another one tried: whatever the names are, it is found out at once. */
    private boolean matchesName(String name) {
        String[] parts = this.text.split("\\*", -1);
        if (parts.length == 1) {
            return name.equals(this.text);
        }
        String last = parts[parts.length - 1];
        int end = name.length() - last.length();
        int from = parts[0].length();
        if (!name.startsWith(parts[0]) || from > end || !name.endsWith(last)) {
            return false;
        }
        for (String part : List.of(parts).subList(1, parts.length - 1)) {
            int found = name.indexOf(part, from);
            if (found < 0 || found + part.length() > end) {
                return false;
            }
            from = found + part.length();
        }
        return true;
    }

    private static String simpleName(String name) {
        return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
    }
}
