package dev.idempotency.internal.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.KafkaCoordinates;
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
 *
 * <p>A record that is a copy itself, as its original was sent back, is known only by copies that have gone as many rounds:
 * earlier rounds say nothing about this one.
 */
public final class OriginalRecords {

    private static final long UNKNOWN = ConsumerRecord.NO_TIMESTAMP;

    private record Original(long timestamp, int redrives) {

        Original merge(Original other) {
            return new Original(
                    (this.timestamp == other.timestamp) ? this.timestamp : UNKNOWN,
                    Math.max(this.redrives, other.redrives));
        }
    }

    private final Map<RecordCoordinates, Original> originals = new HashMap<>();

    /** Adds the record that this one, of a retry or dead-letter topic, is a copy of. */
    public void addOriginalOf(ConsumerRecord<?, ?> copy) {
        this.originals.merge(
                KafkaCoordinates.original(copy),
                new Original(originalTimestamp(copy.headers()), DeadLetterHeaders.redrives(copy.headers())),
                Original::merge);
    }

    /** Whether there is a copy of this record, or of the one that it is a copy of itself. */
    public boolean contains(ConsumerRecord<?, ?> record) {
        RecordCoordinates place = KafkaCoordinates.original(record);
        Original original = this.originals.get(place);
        return original != null
                && original.redrives() >= DeadLetterHeaders.redrives(record.headers())
                && (original.timestamp() == UNKNOWN
                        || original.timestamp() == record.timestamp()
                        || !place.equals(KafkaCoordinates.of(record)));
    }

    /** The time of the first hop. A record that was sent back names its first place, but not the time. */
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
