package dev.idempotency.internal.key;

import dev.idempotency.MessageId;
import dev.idempotency.internal.store.MessageIdText;
import dev.idempotency.key.MessageIdHeader;
import dev.idempotency.key.MessageKeyResolver;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Takes the first header present, from the Kafka record: never Spring's {@code MessageHeaders.ID}, which changes with
 * every delivery. A CloudEvent's {@code ce_id} is only unique together with its source, which is put before it with a
 * blank.
 */
public record HeaderKeyResolver(List<String> headers) implements MessageKeyResolver {

    public static final String IDEMPOTENCY_KEY = "idempotency-key";
    public static final String CLOUD_EVENT_ID = "ce_id";
    public static final String ID = "id";

    /** Those that are looked at unless others are named. */
    public static final List<String> DEFAULT_HEADERS =
            List.of(IDEMPOTENCY_KEY, MessageIdHeader.HEADER, CLOUD_EVENT_ID, ID);

    private static final String CLOUD_EVENT_SOURCE = "ce_source";

    public HeaderKeyResolver {
        headers = List.copyOf(headers);
    }

    @Override
    public @Nullable String resolveKey(ConsumerRecord<?, ?> record) {
        return findIn(record.headers());
    }

    /** The key among these headers, or {@code null} if there is none. */
    public @Nullable String findIn(Headers headers) {
        for (String header : this.headers) {
            String key = text(headers, header);
            if (key != null) {
                return header.equals(CLOUD_EVENT_ID) ? withSource(headers, key) : key;
            }
        }
        return null;
    }

    private static String withSource(Headers headers, String id) {
        String source = text(headers, CLOUD_EVENT_SOURCE);
        return (source != null) ? source + " " + id : id;
    }

    private static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            return null;
        }
        String text = MessageIdText.decode(header.value());
        return MessageId.isNoKey(text) ? null : text;
    }

    @Override
    public String toString() {
        return "headers " + this.headers;
    }
}
