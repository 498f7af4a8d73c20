package dev.idempotency.failure;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * The records that a listener was last called with on this thread, if it has returned: their transaction is committed, so
 * what fails afterwards, such as the commit of their offsets, is no fault of theirs.
 */
public final class SettledDelivery {

    /** Of each partition, the last record. */
    private static final ThreadLocal<Collection<? extends ConsumerRecord<?, ?>>> LAST =
            ThreadLocal.withInitial(List::of);

    private SettledDelivery() {}

    /** A listener is about to be called. */
    public static void begin() {
        LAST.set(List.of());
    }

    /** It has returned. */
    public static void end(List<? extends ConsumerRecord<?, ?>> records) {
        if (records.size() == 1) {
            LAST.set(List.copyOf(records));
            return;
        }
        Map<TopicPartition, ConsumerRecord<?, ?>> last = new HashMap<>();
        records.forEach(record -> last.put(new TopicPartition(record.topic(), record.partition()), record));
        LAST.set(last.values());
    }

    /** Whether this partition was settled, up to this offset at least. */
    static boolean covers(TopicPartition partition, long offset) {
        return LAST.get().stream()
                .anyMatch(last -> last.partition() == partition.partition()
                        && last.topic().equals(partition.topic())
                        && last.offset() >= offset);
    }

    /** Whether it is this record that was settled; it is asked once, as afterwards the record comes again. */
    static boolean take(ConsumerRecord<?, ?> record) {
        return LAST.get().stream().anyMatch(last -> isSame(last, record)) && forget();
    }

    /** The same for a batch. */
    static boolean take(ConsumerRecords<?, ?> records) {
        Collection<? extends ConsumerRecord<?, ?>> settled = LAST.get();
        return !settled.isEmpty()
                && settled.stream()
                        .allMatch(last -> records.records(new TopicPartition(last.topic(), last.partition())).stream()
                                .anyMatch(record -> record.offset() == last.offset()))
                && forget();
    }

    private static boolean isSame(ConsumerRecord<?, ?> one, ConsumerRecord<?, ?> other) {
        return one.offset() == other.offset()
                && one.partition() == other.partition()
                && one.topic().equals(other.topic());
    }

    private static boolean forget() {
        begin();
        return true;
    }
}
