package dev.idempotency.key;

import dev.idempotency.MessageId;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** Ids of messages where they are made: in a header of the record that is sent. */
public final class MessageIdHeader {

    /** The header that a message's id is stamped on. */
    public static final String HEADER = "message-id";

    private MessageIdHeader() {}

    /**
     * Gives a record an id that the application knows, such as {@code order-4711/CONFIRMED}. Sent again
     * with the same id, it is the same message to its receivers.
     *
     * @param id what makes the message one of its kind
     * @return the record to be sent: the given one or, if its headers can no longer be changed, a copy
     * @throws IllegalArgumentException if the id is blank, or one that databases refuse
     * @throws IllegalStateException if the record has another id in this header already
     */
    public static <K, V> ProducerRecord<K, V> stamp(ProducerRecord<K, V> record, String id) {
        String refusal = MessageId.isNoKey(id) ? "is blank, or says that there is none" : MessageId.whyRefused(id);
        if (refusal != null) {
            throw new IllegalArgumentException(
                    "The id '%s' for a record for topic %s %s: it would not identify the message"
                            .formatted(StringUtils.truncate(id), record.topic(), refusal));
        }
        String present = textOf(record.headers().lastHeader(HEADER));
        if (present == null) {
            return add(record, new RecordHeader(HEADER, id.getBytes(StandardCharsets.UTF_8)));
        }
        if (!present.equals(id)) {
            throw new IllegalStateException(
                    ("The record for topic %s has the id '%s' already, and cannot be stamped with '%s'. If its headers are"
                                    + " the headers of a received message, leave out '%s': it is that message's.")
                            .formatted(
                                    record.topic(), StringUtils.truncate(present), StringUtils.truncate(id), HEADER));
        }
        return record;
    }

    private static @Nullable String textOf(@Nullable Header header) {
        byte[] value = (header != null) ? header.value() : null;
        String text = (value != null) ? new String(value, StandardCharsets.UTF_8) : "";
        return MessageId.isNoKey(text) ? null : text;
    }

    private static <K, V> ProducerRecord<K, V> add(ProducerRecord<K, V> record, Header header) {
        try {
            record.headers().add(header);
            return record;
        } catch (IllegalStateException | UnsupportedOperationException ex) {
            // A record that has been sent is read-only.
            return new ProducerRecord<>(
                    record.topic(),
                    record.partition(),
                    record.timestamp(),
                    record.key(),
                    record.value(),
                    new RecordHeaders(record.headers()).add(header));
        }
    }
}
