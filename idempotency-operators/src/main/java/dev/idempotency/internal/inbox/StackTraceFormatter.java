package dev.idempotency.internal.inbox;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Formats a failure's stack trace for the table. Of a long one the middle is left out: its end has the root cause. */
final class StackTraceFormatter {

    private static final int MAX_LENGTH = 8_000;

    private StackTraceFormatter() {}

    static String format(Throwable failure) {
        String text = trace(failure).replace('\0', '?');
        return (text.length() <= MAX_LENGTH)
                ? text
                : text.substring(0, MAX_LENGTH / 2) + "\n...\n" + text.substring(text.length() - MAX_LENGTH / 2);
    }

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        try {
            failure.printStackTrace(new PrintWriter(trace));
            return trace.toString();
        } catch (RuntimeException | StackOverflowError ex) {
            // Its message or its causes throw, or have no end.
            return "%s%n%s cannot be printed: %s"
                    .formatted(
                            trace, failure.getClass().getName(), ex.getClass().getName());
        }
    }
}
