package dev.idempotency.internal.kafka;

import dev.idempotency.RecordCoordinates;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Where a message stood first, and in which topic of that name, as {@code topic-partition@offset/id}: one that is
 * deleted and created again has another id. A record that has been asked for them, and its copies in retry and
 * dead-letter topics, carry them in the header {@value #HEADER}.
 */
public record TopicCoordinates(Uuid topicId, String topic, int partition, long offset) {

    public static final String HEADER = "idempotency-coordinates";

    public static TopicCoordinates of(Uuid topicId, RecordCoordinates record) {
        return new TopicCoordinates(topicId, record.topic(), record.partition(), record.offset());
    }

    public static @Nullable Header headerOf(ConsumerRecord<?, ?> record) {
        return record.headers().lastHeader(HEADER);
    }

    /** Returns the coordinates in a record's header, or {@code null} if it has none, or the ones of another record. */
    public static @Nullable TopicCoordinates toldBy(ConsumerRecord<?, ?> record, RecordCoordinates original) {
        Header header = headerOf(record);
        if (header == null || header.value() == null) {
            return null;
        }
        String text = new String(header.value(), StandardCharsets.UTF_8);
        String beginning = original + "/";
        if (!text.startsWith(beginning)) {
            return null;
        }
        try {
            return of(Uuid.fromString(text.substring(beginning.length())), original);
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }

    /** Has a record, and so the copies that are made of it, tell them. */
    public void tellBy(ConsumerRecord<?, ?> record) {
        Headers headers = record.headers();
        try {
            headers.remove(HEADER).add(new RecordHeader(HEADER, toString().getBytes(StandardCharsets.UTF_8)));
        } catch (IllegalStateException ex) {
            // The headers are read-only: the broker will be asked again.
        }
    }

    @Override
    public String toString() {
        return new RecordCoordinates(this.topic, this.partition, this.offset) + "/" + this.topicId;
    }
}
