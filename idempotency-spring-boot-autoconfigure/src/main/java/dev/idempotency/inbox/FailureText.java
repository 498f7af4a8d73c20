package dev.idempotency.inbox;

import java.io.PrintWriter;
import java.io.StringWriter;

/** A failure as it is shown in the table: the stack trace, from which the causes can be told, as far as it fits. */
final class FailureText {

    private static final int MAX_LENGTH = 8_000;

    private FailureText() {}

    static String of(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        String text = trace.toString().replace('\0', '?');
        return (text.length() <= MAX_LENGTH) ? text : text.substring(0, MAX_LENGTH) + " …";
    }
}
