package dev.idempotency.redrive;

import org.jspecify.annotations.Nullable;
import org.springframework.util.PatternMatchUtils;
import org.springframework.util.StringUtils;

/**
 * The class of an exception: its full name, its simple name, or either with {@code *} for any characters, as in
 * {@code java.sql.*} or {@code *TimeoutException}. The text of exceptions is not looked at, as it may quote payloads.
 *
 * @param text the pattern, with up to three asterisks
 */
public record ExceptionPattern(String text) {

    private static final int LONGEST = 300;

    /** More would take too long to compare with a long name. */
    private static final int MOST_ASTERISKS = 3;

    public ExceptionPattern {
        if (text.isBlank() || text.length() > LONGEST || StringUtils.countOccurrencesOf(text, "*") > MOST_ASTERISKS) {
            throw new IllegalArgumentException(
                    "The pattern of an exception must have between 1 and %d characters, and at most %d asterisks"
                            .formatted(LONGEST, MOST_ASTERISKS));
        }
    }

    public boolean matches(@Nullable String exception) {
        return exception != null
                && (PatternMatchUtils.simpleMatch(this.text, exception)
                        || PatternMatchUtils.simpleMatch(
                                this.text,
                                exception.substring(
                                        Math.max(exception.lastIndexOf('.'), exception.lastIndexOf('$')) + 1)));
    }
}
