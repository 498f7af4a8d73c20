package dev.idempotency.failure;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** The header of a dead letter that names its consumer: several consumers share a dead-letter topic. */
public final class DeadLetterOwner {

    /** The header. */
    public static final String HEADER = "idempotency-consumer";

    private DeadLetterOwner() {}

    /** The consumer that a dead letter names, or {@code null} if it names none. */
    public static @Nullable String toldBy(Headers headers) {
        Header header = headers.lastHeader(HEADER);
        return (header != null && header.value() != null) ? new String(header.value(), StandardCharsets.UTF_8) : null;
    }

    static void tellBy(Headers headers, String consumer) {
        headers.remove(HEADER).add(HEADER, consumer.getBytes(StandardCharsets.UTF_8));
    }
}
