package dev.idempotency.internal.database;

/**
 * The wish to process the records of one partition from an offset up to another.
 *
 * @param consumer the consumer
 * @param topic the topic's name
 * @param partition the partition
 * @param topicId the id that Kafka gave the topic: one that is deleted and created again has another
 * @param from the first offset
 * @param to the offset after the last
 */
public record PositionClaim(String consumer, String topic, int partition, String topicId, long from, long to) {

    /** Whether it is for one record alone. */
    boolean isSingle() {
        return this.to - this.from == 1;
    }

    /** Topic and partition, with the offsets. */
    @Override
    public String toString() {
        return this.topic + "-" + this.partition + "@" + this.from + (isSingle() ? "" : " to @" + (this.to - 1));
    }
}
