package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * A record as it would be stored in a broker's log.
 *
 * @param coordinates topic, partition and offset
 * @param timestamp the time at which it was sent
 * @param headers its headers, which are not changed
 * @param key the key: bytes, or a deserialized object
 * @param value the value: bytes, or a deserialized object
 * @param bytes whether key and value are bytes that the listener's deserializers must read
 */
record LoggedRecord(
        RecordCoordinates coordinates,
        long timestamp,
        List<Header> headers,
        @Nullable Object key,
        @Nullable Object value,
        boolean bytes) {

    static LoggedRecord of(ConsumerRecord<?, ?> record) {
        return new LoggedRecord(
                KafkaCoordinates.of(record),
                record.timestamp(),
                copy(record.headers()),
                record.key(),
                record.value(),
                false);
    }

    /** Copies headers, including their arrays, so that listeners may change them. */
    static List<Header> copy(Iterable<Header> headers) {
        List<Header> copies = new ArrayList<>();
        for (Header header : headers) {
            byte[] value = header.value();
            copies.add(new RecordHeader(header.key(), (value != null) ? value.clone() : null));
        }
        return copies;
    }

    Headers freshHeaders() {
        return new RecordHeaders(copy(this.headers));
    }

    String topic() {
        return this.coordinates.topic();
    }

    TopicPartition partition() {
        return new TopicPartition(this.coordinates.topic(), this.coordinates.partition());
    }

    long offset() {
        return this.coordinates.offset();
    }

    /** The same message, sent a second later. */
    LoggedRecord republishedAt(long offset) {
        return new LoggedRecord(
                new RecordCoordinates(topic(), this.coordinates.partition(), offset),
                this.timestamp + 1_000,
                this.headers,
                this.key,
                this.value,
                this.bytes);
    }

    /** The record as a consumer reads it. */
    ConsumerRecord<Object, Object> delivered(Headers headers, @Nullable Object key, @Nullable Object value) {
        return new ConsumerRecord<>(
                topic(),
                this.coordinates.partition(),
                offset(),
                this.timestamp,
                TimestampType.CREATE_TIME,
                size(this.key),
                size(this.value),
                key,
                value,
                headers,
                Optional.empty());
    }

    private static int size(@Nullable Object data) {
        return (data instanceof byte[] bytes) ? bytes.length : ConsumerRecord.NULL_SIZE;
    }
}
