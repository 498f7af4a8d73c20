package dev.idempotency.redrive;

import org.jspecify.annotations.Nullable;
import org.springframework.util.PatternMatchUtils;

/**
 * The class of an exception: its full name, its simple name, or either with {@code *} for any characters, as in
 * {@code java.sql.*} or {@code *TimeoutException}. The text of exceptions is not looked at, as it may quote payloads.
 *
 * @param text the pattern
 */
public record ExceptionPattern(String text) {

    private static final int LONGEST = 300;

    /** With many of them a comparison takes for ever. */
    private static final int MOST_WILDCARDS = 4;

    public ExceptionPattern {
        if (text.isBlank() || text.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "The pattern of an exception must have between 1 and %d characters".formatted(LONGEST));
        }
        if (text.chars().filter(character -> character == '*').count() > MOST_WILDCARDS) {
            throw new IllegalArgumentException(
                    "The pattern of an exception must have %d asterisks at most".formatted(MOST_WILDCARDS));
        }
    }

    boolean matches(@Nullable String exception) {
        return exception != null
                && (PatternMatchUtils.simpleMatch(this.text, exception)
                        || PatternMatchUtils.simpleMatch(this.text, simpleName(exception)));
    }

    private static String simpleName(String name) {
        return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
    }
}
