package dev.idempotency.failure;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * The records that come again after they have failed, one per partition and consumer thread.
 *
 * <p>Containers have an error handler forget all its counts when a batch succeeds, be it one of other partitions. As long
 * as there is a record here, that must not reach the handler: the record would be retried for ever.
 */
final class RecordsInRetry {

    private record OfThread(Consumer<?, ?> consumer, Map<TopicPartition, Long> offsets) {

        Set<TopicPartition> assignment() {
            try {
                return this.consumer.assignment();
            } catch (RuntimeException ex) {
                // It has been closed, so its thread is about to end.
                return Set.of();
            }
        }
    }

    private final Map<Thread, OfThread> byThread = new ConcurrentHashMap<>();

    void add(ConsumerRecord<?, ?> record, Consumer<?, ?> consumer) {
        this.byThread
                .compute(
                        Thread.currentThread(),
                        (thread, known) -> (known != null && known.consumer() == consumer)
                                ? known
                                : new OfThread(consumer, new HashMap<>()))
                .offsets()
                .put(new TopicPartition(record.topic(), record.partition()), record.offset());
    }

    void remove(ConsumerRecord<?, ?> record) {
        OfThread mine = this.byThread.get(Thread.currentThread());
        if (mine != null) {
            mine.offsets().remove(new TopicPartition(record.topic(), record.partition()), record.offset());
            forgetIfEmpty(mine);
        }
    }

    /** Forgets what has succeeded and what is another consumer's now; returns whether nothing is left. */
    boolean isEmpty() {
        OfThread mine = this.byThread.get(Thread.currentThread());
        if (mine == null) {
            return true;
        }
        Set<TopicPartition> assignment = mine.assignment();
        mine.offsets()
                .entrySet()
                .removeIf(entry -> !assignment.contains(entry.getKey())
                        || SettledDelivery.covers(entry.getKey(), entry.getValue()));
        return forgetIfEmpty(mine);
    }

    private boolean forgetIfEmpty(OfThread mine) {
        return mine.offsets().isEmpty() && this.byThread.remove(Thread.currentThread(), mine);
    }
}
