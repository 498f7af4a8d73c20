package dev.idempotency.inbox;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.kafka.ReceivedRecords;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Makes of a message that was delivered one that can be written to the table: what was received, and its type. */
final class KeptMessageFactory {

    private static final int MAX_TYPE_LENGTH = 255;

    /** Headers that may tell a message's type; the first one present counts. */
    private static final List<String> TYPE_HEADERS = List.of("message-type", "ce_type", "__TypeId__");

    private final ReceivedRecords received;
    private final int maxPayload;
    private final boolean retries;

    /** {@code retries} says whether records come through retry topics, and so from the topic that they lead back to. */
    KeptMessageFactory(ReceivedRecords received, InboxSettings settings, boolean retries) {
        this.received = received;
        this.maxPayload = settings.maxPayload();
        this.retries = retries;
    }

    List<KeptMessage> keep(List<DeliveredMessage> messages) {
        return messages.stream().map(this::keep).toList();
    }

    private KeptMessage keep(DeliveredMessage message) {
        ConsumerRecord<byte[], byte[]> found = this.received.find(message.record());
        List<Header> headers = List.of(((found != null)
                        ? withCoordinates(found.headers(), message.record())
                        : message.record().headers())
                .toArray());
        return new KeptMessage(
                message.id(),
                coordinates(message),
                type(headers, message.record().value()),
                (found != null) ? found.key() : null,
                HeaderLines.write(headers),
                (found != null) ? found.value() : null,
                (found != null) ? omission(found.value()) : KeptMessage.UNKNOWN);
    }

    /** By which a replay is the same message, though its topic may have been created anew by then. */
    private static Headers withCoordinates(Headers received, ConsumerRecord<?, ?> record) {
        Header coordinates = TopicCoordinates.headerOf(record);
        return (coordinates != null) ? received.remove(TopicCoordinates.HEADER).add(coordinates) : received;
    }

    private @Nullable String omission(byte @Nullable [] received) {
        return (received != null && received.length > this.maxPayload) ? KeptMessage.TOO_LARGE : null;
    }

    /** Where it can be sent to again: a dead letter leads back to a topic that this listener does not read. */
    private RecordCoordinates coordinates(DeliveredMessage message) {
        RecordCoordinates found = RecordCoordinates.of(message.record());
        boolean leadsElsewhere = !message.coordinates().topic().equals(found.topic());
        return (leadsElsewhere && !this.retries) ? found : message.coordinates();
    }

    private @Nullable String type(List<Header> headers, @Nullable Object value) {
        for (String name : TYPE_HEADERS) {
            for (Header header : headers) {
                if (header.key().equals(name) && header.value() != null) {
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
}
