package dev.idempotency.failure;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The records that a listener was last called with on this thread, if it has returned: their transaction is committed, so
 * what fails afterwards, such as the commit of their offsets, is no fault of theirs.
 */
public final class SettledDelivery {

    private static final ThreadLocal<@Nullable Map<TopicPartition, Long>> LAST = new ThreadLocal<>();

    private SettledDelivery() {}

    /** A listener is about to be called. */
    public static void begin() {
        LAST.remove();
    }

    /** It has returned. */
    public static void end(List<? extends ConsumerRecord<?, ?>> records) {
        if (records.size() == 1) {
            ConsumerRecord<?, ?> only = records.get(0);
            LAST.set(Map.of(new TopicPartition(only.topic(), only.partition()), only.offset()));
            return;
        }
        Map<TopicPartition, Long> last = new HashMap<>();
        records.forEach(record -> last.put(new TopicPartition(record.topic(), record.partition()), record.offset()));
        LAST.set(last);
    }

    /** Whether this partition was settled, up to this offset at least. */
    static boolean covers(TopicPartition partition, long offset) {
        Map<TopicPartition, Long> last = LAST.get();
        return last != null && last.getOrDefault(partition, -1L) >= offset;
    }

    /** Whether it is this record that was settled; it is asked once, as afterwards the record comes again. */
    static boolean take(ConsumerRecord<?, ?> record) {
        Map<TopicPartition, Long> last = LAST.get();
        Long offset = (last != null) ? last.get(new TopicPartition(record.topic(), record.partition())) : null;
        return offset != null && offset == record.offset() && forget();
    }

    /** The same for a batch. */
    static boolean take(ConsumerRecords<?, ?> records) {
        Map<TopicPartition, Long> last = LAST.get();
        return last != null
                && !last.isEmpty()
                && last.entrySet().stream().allMatch(entry -> records.records(entry.getKey()).stream()
                        .anyMatch(record -> record.offset() == entry.getValue()))
                && forget();
    }

    private static boolean forget() {
        LAST.remove();
        return true;
    }
}
