package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.springframework.kafka.support.KafkaHeaders;

/**
 * Records of which there are copies in other topics. They are known by where they stood and, if the copies tell, by their
 * timestamps: in a topic that was deleted and created again, others stand at the same places.
 */
public final class OriginalRecords {

    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Map<RecordCoordinates, Long> timestamps = new HashMap<>();

    /** Adds the record that this one, of a retry or dead-letter topic, is a copy of. */
    public void addOriginalOf(ConsumerRecord<?, ?> copy) {
        this.timestamps.merge(
                RecordCoordinates.original(copy),
                originalTimestamp(copy.headers()),
                (one, other) -> one.equals(other) ? one : UNKNOWN);
    }

    /** Whether there is a copy of this record, or of the one that it is a copy of itself. */
    public boolean contains(ConsumerRecord<?, ?> record) {
        RecordCoordinates original = RecordCoordinates.original(record);
        Long timestamp = this.timestamps.get(original);
        return timestamp != null
                && (timestamp == UNKNOWN
                        || timestamp == record.timestamp()
                        || !original.equals(RecordCoordinates.of(record)));
    }

    /** That of the first hop. One that was sent back to its topic tells where it stood first, and not when. */
    private static long originalTimestamp(Headers headers) {
        String name = (headers.lastHeader(KafkaHeaders.ORIGINAL_TOPIC) != null)
                ? KafkaHeaders.ORIGINAL_TIMESTAMP
                : KafkaHeaders.DLT_ORIGINAL_TIMESTAMP;
        Iterator<Header> values = headers.headers(name).iterator();
        byte[] first = values.hasNext() ? values.next().value() : null;
        return (first != null && first.length == Long.BYTES)
                ? ByteBuffer.wrap(first).getLong()
                : UNKNOWN;
    }
}
