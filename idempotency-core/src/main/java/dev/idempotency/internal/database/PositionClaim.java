package dev.idempotency.internal.database;

/** The wish to process the records of one partition from an offset up to another. A topic that is created again has another id. */
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
