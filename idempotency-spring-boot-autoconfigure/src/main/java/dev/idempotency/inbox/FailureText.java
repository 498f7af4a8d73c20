package dev.idempotency.inbox;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * A failure as it is shown in the table: the stack trace. Where that is too long, each of its causes is left only the
 * frames in which it arose, so that the last one, which tells the most, is there too.
 */
final class FailureText {

    private static final int MAX_LENGTH = 8_000;
    private static final int FRAMES_OF_A_CAUSE = 10;
    private static final String FRAME = "at ";

    private FailureText() {}

    static String of(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        String text = trace.toString().replace('\0', '?');
        if (text.length() > MAX_LENGTH) {
            text = withFewerFrames(text);
        }
        return (text.length() <= MAX_LENGTH) ? text : text.substring(0, MAX_LENGTH) + " ...";
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
    static String plain(String text) {
        return text.replaceAll("[^\\x00-\\x7F]", "?");
    }
}
