package dev.idempotency.failure;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * What a listener and the error handler of its container know of each other, on the consumer's thread.
 *
 * <p>The error handler asks for a batch that failed to be taken apart: each message in a transaction of its own, in order,
 * up to the first that fails, which can then be retried and dead-lettered by itself. The listener tells which records are
 * settled: it has returned, so that their transaction is committed, and what fails afterwards, such as the commit of their
 * offsets, is no fault of theirs.
 */
public final class DeliveryContext {

    private static final ThreadLocal<Boolean> SEPARATION = ThreadLocal.withInitial(() -> false);

    private static final ThreadLocal<Boolean> RETRY = ThreadLocal.withInitial(() -> false);

    /** Of each partition of the last delivery, the last record. */
    private static final ThreadLocal<Collection<? extends ConsumerRecord<?, ?>>> SETTLED =
            ThreadLocal.withInitial(List::of);

    private DeliveryContext() {}

    /** Whether the batch that is being delivered is to be taken apart. */
    public static boolean isSeparationRequested() {
        return SEPARATION.get();
    }

    static void requestSeparation(Runnable delivery) {
        SEPARATION.set(true);
        try {
            delivery.run();
        } finally {
            SEPARATION.remove();
        }
    }

    /** Whether an error handler delivers the batch again that it holds in memory: it takes a return for success. */
    public static boolean isRetriedInPlace() {
        return RETRY.get();
    }

    static void retryInPlace(Runnable delivery) {
        RETRY.set(true);
        try {
            delivery.run();
        } finally {
            RETRY.remove();
        }
    }

    /** A listener is about to be called: nothing is settled. */
    public static void begin() {
        SETTLED.set(List.of());
    }

    /** It has returned: these records are settled. */
    public static void settle(List<? extends ConsumerRecord<?, ?>> records) {
        if (records.size() == 1) {
            SETTLED.set(List.copyOf(records));
        } else {
            Map<TopicPartition, ConsumerRecord<?, ?>> last = new HashMap<>();
            records.forEach(record -> last.put(new TopicPartition(record.topic(), record.partition()), record));
            SETTLED.set(last.values());
        }
        SETTLED.get().forEach(PollPositions::pass);
    }

    /** Whether this partition was settled, up to this offset at least. */
    static boolean isSettled(TopicPartition partition, long offset) {
        return SETTLED.get().stream()
                .anyMatch(last -> last.partition() == partition.partition()
                        && last.topic().equals(partition.topic())
                        && last.offset() >= offset);
    }

    /** Whether it is these records that were settled; it is asked once, as afterwards they come again. */
    static boolean takeSettled(List<? extends ConsumerRecord<?, ?>> records) {
        Collection<? extends ConsumerRecord<?, ?>> settled = SETTLED.get();
        boolean same = !settled.isEmpty()
                && settled.stream().allMatch(last -> records.stream().anyMatch(record -> isSame(last, record)));
        if (same) {
            begin();
        }
        return same;
    }

    private static boolean isSame(ConsumerRecord<?, ?> one, ConsumerRecord<?, ?> other) {
        return one.offset() == other.offset()
                && one.partition() == other.partition()
                && one.topic().equals(other.topic());
    }
}
