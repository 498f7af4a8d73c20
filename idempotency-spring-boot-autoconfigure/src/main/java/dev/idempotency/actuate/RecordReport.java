package dev.idempotency.actuate;

import dev.idempotency.RecordCoordinates;

/**
 * Where a record stands in Kafka.
 *
 * @param topic the topic
 * @param partition the partition
 * @param offset the offset
 */
public record RecordReport(String topic, int partition, long offset) {

    static RecordReport of(RecordCoordinates coordinates) {
        return new RecordReport(coordinates.topic(), coordinates.partition(), coordinates.offset());
    }
}
