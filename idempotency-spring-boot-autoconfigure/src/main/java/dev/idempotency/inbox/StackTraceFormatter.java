package dev.idempotency.inbox;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * Formats a failure as it is shown in the table: its stack trace. Where that is too long, each of its causes is left only the
 * frames in which it arose, so that the last one, which tells the most, is there too.
 */
final class StackTraceFormatter {

    private static final int MAX_LENGTH = 8_000;
    private static final int FRAMES_OF_A_CAUSE = 10;
    private static final String FRAME = "at ";

    private StackTraceFormatter() {}

    static String format(Throwable failure) {
        String text = trace(failure).replace('\0', '?');
        if (text.length() > MAX_LENGTH) {
            text = withFewerFrames(text);
        }
        return (text.length() <= MAX_LENGTH) ? text : text.substring(0, MAX_LENGTH) + " ...";
    }

    /** Where a failure cannot be printed, as its message or its causes throw or have no end: what it is. */
    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        try {
            failure.printStackTrace(new PrintWriter(trace));
        } catch (RuntimeException | StackOverflowError ex) {
            String before = trace.toString();
            return before.substring(0, Math.min(before.length(), MAX_LENGTH / 2))
                    + String.format(
                            "%n%s cannot be printed: %s",
                            failure.getClass().getName(), ex.getClass().getName());
        }
        return trace.toString();
    }

    private static String withFewerFrames(String trace) {
        StringBuilder shorter = new StringBuilder();
        int frames = 0;
        for (String line : trace.split("\\R")) {
            frames = line.stripLeading().startsWith(FRAME) ? frames + 1 : 0;
            if (frames <= FRAMES_OF_A_CAUSE) {
                shorter.append(line).append('\n');
            } else if (frames == FRAMES_OF_A_CAUSE + 1) {
                shorter.append("\t...\n");
            }
        }
        return shorter.toString();
    }

    /** The same in characters that every database has. */
    static String toAscii(String text) {
        return text.replaceAll("[^\\x00-\\x7F]", "?");
    }
}
