package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.ReceivedRecords;
import dev.idempotency.internal.kafka.TopicCoordinates;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * A message as it is written to the table.
 *
 * @param type its type as its headers say, or the class of its payload
 * @param headers the record's headers, as {@link HeaderLines}
 * @param received the bytes of the record's value, unchanged; {@code null} for a record without one, or if it is not
 *     known
 * @param omitted why the value is not kept; {@code null} if it is
 */
record StoredMessage(
        MessageId id,
        RecordCoordinates coordinates,
        @Nullable String type,
        byte @Nullable [] key,
        String headers,
        byte @Nullable [] received,
        @Nullable String omitted) {

    static final String TOO_LARGE = "too large";

    /** An interceptor has replaced the record that was received. */
    static final String UNKNOWN = "unknown";

    private static final int MAX_TYPE_LENGTH = 255;

    /** The first one present counts. */
    private static final List<String> TYPE_HEADERS = List.of("message-type", "ce_type", "__TypeId__");

    /** {@code retries} says whether records come through retry topics, and so from the topic that they lead back to. */
    static StoredMessage of(
            MessageId id,
            RecordCoordinates original,
            ConsumerRecord<?, ?> record,
            ReceivedRecords received,
            int maxPayload,
            boolean retries) {
        ConsumerRecord<byte[], byte[]> found = received.find(record);
        Headers headers = (found != null) ? found.headers() : record.headers();
        Header coordinates = TopicCoordinates.headerOf(record);
        if (found != null && coordinates != null) {
            // By these a replay is the same message, though its topic may have been created anew by then.
            headers.remove(TopicCoordinates.HEADER).add(coordinates);
        }
        byte[] value = (found != null) ? found.value() : null;
        boolean tooLarge = value != null && value.length > maxPayload;
        // It must be sent to a topic that the listener reads: a dead letter leads back to another one.
        boolean leadsElsewhere = !original.topic().equals(record.topic());
        return new StoredMessage(
                id,
                (leadsElsewhere && !retries) ? KafkaCoordinates.of(record) : original,
                type(headers, record.value()),
                (found != null) ? found.key() : null,
                HeaderLines.write(headers),
                value,
                (found == null) ? UNKNOWN : tooLarge ? TOO_LARGE : null);
    }

    private static @Nullable String type(Headers headers, @Nullable Object value) {
        for (String name : TYPE_HEADERS) {
            for (Header header : headers.headers(name)) {
                if (header.value() != null) {
                    return storable(new String(header.value(), StandardCharsets.UTF_8));
                }
            }
        }
        return (value != null) ? storable(ClassUtils.getQualifiedName(value.getClass())) : null;
    }

    private static String storable(String type) {
        String text = type.replaceAll("\\p{Cntrl}", "?");
        return text.substring(0, Math.min(text.length(), MAX_TYPE_LENGTH));
    }

    byte @Nullable [] payload() {
        return (this.omitted == null) ? this.received : null;
    }

    @Nullable
    Integer payloadSize() {
        return (this.received != null) ? this.received.length : null;
    }
}
