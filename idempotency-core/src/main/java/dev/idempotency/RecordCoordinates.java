package dev.idempotency;

/**
 * Where a record stands in Kafka: {@code topic-partition@offset}.
 *
 * @param topic the topic
 * @param partition the partition
 * @param offset the offset
 */
public record RecordCoordinates(String topic, int partition, long offset) {

    @Override
    public String toString() {
        return this.topic + "-" + this.partition + "@" + this.offset;
    }
}
