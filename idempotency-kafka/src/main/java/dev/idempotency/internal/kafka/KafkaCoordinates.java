package dev.idempotency.internal.kafka;

import dev.idempotency.RecordCoordinates;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;

/** Reads the {@link RecordCoordinates} of Kafka records. */
public final class KafkaCoordinates {

    private KafkaCoordinates() {}

    public static RecordCoordinates of(ConsumerRecord<?, ?> record) {
        return new RecordCoordinates(record.topic(), record.partition(), record.offset());
    }

    /** Where the record stood first: that in a retry or dead-letter topic is a copy, as its Spring Kafka headers say. */
    public static RecordCoordinates original(ConsumerRecord<?, ?> record) {
        Headers headers = record.headers();
        RecordCoordinates original = from(
                headers, KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.ORIGINAL_PARTITION, KafkaHeaders.ORIGINAL_OFFSET);
        if (original == null) {
            original = from(
                    headers,
                    KafkaHeaders.DLT_ORIGINAL_TOPIC,
                    KafkaHeaders.DLT_ORIGINAL_PARTITION,
                    KafkaHeaders.DLT_ORIGINAL_OFFSET);
        }
        return (original != null) ? original : of(record);
    }

    private static @Nullable RecordCoordinates from(Headers headers, String topic, String partition, String offset) {
        byte[] topicBytes = first(headers, topic);
        byte[] partitionBytes = first(headers, partition);
        byte[] offsetBytes = first(headers, offset);
        if (topicBytes == null
                || partitionBytes == null
                || partitionBytes.length != Integer.BYTES
                || offsetBytes == null
                || offsetBytes.length != Long.BYTES) {
            return null;
        }
        return new RecordCoordinates(
                new String(topicBytes, StandardCharsets.UTF_8),
                ByteBuffer.wrap(partitionBytes).getInt(),
                ByteBuffer.wrap(offsetBytes).getLong());
    }

    /** The first of several: each hop appends its own, and the oldest one names the original. */
    private static byte @Nullable [] first(Headers headers, String name) {
        if (headers.lastHeader(name) == null) {
            // Almost always, and without an iterator.
            return null;
        }
        Iterator<Header> all = headers.headers(name).iterator();
        return all.hasNext() ? all.next().value() : null;
    }
}
