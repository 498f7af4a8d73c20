package dev.idempotency.actuate;

import java.util.Collection;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A consumer, and perhaps a message, named by the end of a URL.
 *
 * <p>The names of consumers have slashes in them, and so may ids: the longest name of a consumer that is known is taken
 * for the consumer, or else the first segment, and what follows for the id.
 *
 * @param consumer the consumer
 * @param messageId the message's id, or {@code null} if the path ends with the consumer
 */
record MessagePath(String consumer, @Nullable String messageId) {

    /** Reads a path; if the id is given apart, all of the path is the consumer. */
    static MessagePath of(String[] segments, @Nullable String messageId, Collection<String> consumers) {
        String path = String.join("/", segments);
        if (messageId != null) {
            return new MessagePath(path, messageId);
        }
        String consumer = possible(path, consumers)
                .max(Comparator.comparingInt(String::length))
                .orElse(segments[0]);
        boolean ends = path.length() == consumer.length();
        return new MessagePath(consumer, ends ? null : path.substring(consumer.length() + 1));
    }

    /** Whether a path could also be read as a message of another consumer that is known. */
    static boolean isAmbiguous(String[] segments, Collection<String> consumers) {
        return possible(String.join("/", segments), consumers).count() > 1;
    }

    private static Stream<String> possible(String path, Collection<String> consumers) {
        return consumers.stream().filter(name -> path.equals(name) || path.startsWith(name + "/"));
    }
}
