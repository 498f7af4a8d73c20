package dev.idempotency.internal.failure;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * State that a listener and the error handler of its container share on the consumer's thread. Losing it, as in a
 * rebalance, costs a redelivery and nothing else.
 */
public final class ConsumerThreadState {

    private static final ThreadLocal<ConsumerThreadState> CURRENT = ThreadLocal.withInitial(ConsumerThreadState::new);

    /** Last committed offset of each partition in the delivery, if its transaction has been committed. */
    private final Map<TopicPartition, Long> committed = new HashMap<>();

    /** Offset of each partition up to which records are processed one by one. */
    private final Map<TopicPartition, Long> split = new HashMap<>();

    /** Failed record of each partition that will be redelivered. */
    private final Map<TopicPartition, Long> retried = new HashMap<>();

    private final Map<TopicPartition, Long> starts = new ConcurrentHashMap<>();

    private Runnable afterRetry = () -> {};

    private @Nullable Duration requestedPause;

    private ConsumerThreadState() {}

    public static ConsumerThreadState current() {
        return CURRENT.get();
    }

    /** Called before the listener: nothing of the delivery is committed. */
    public void begin() {
        this.committed.clear();
    }

    /** Called after the commit: whatever is thrown from now on is not the fault of these records. */
    public void commit(List<? extends ConsumerRecord<?, ?>> records) {
        for (ConsumerRecord<?, ?> record : records) {
            this.committed.merge(partitionOf(record), record.offset(), Math::max);
            endRetry(record);
        }
    }

    /** Whether the delivery that failed is committed; asked once, as its records are redelivered then. */
    boolean takeCommitted(List<? extends ConsumerRecord<?, ?>> records) {
        boolean same = !this.committed.isEmpty()
                && this.committed.entrySet().stream().allMatch(last -> records.stream()
                        .anyMatch(record -> record.offset() == last.getValue()
                                && partitionOf(record).equals(last.getKey())));
        if (same) {
            begin();
        }
        return same;
    }

    /** Has these records processed one by one when they are redelivered. */
    void split(List<? extends ConsumerRecord<?, ?>> records) {
        records.forEach(record -> this.split.merge(partitionOf(record), record.offset(), Math::max));
    }

    /** Whether a batch or poll must be processed one by one, as it has failed before. */
    public boolean isSplit(List<? extends ConsumerRecord<?, ?>> records) {
        return !this.split.isEmpty()
                && records.stream()
                        .anyMatch(record -> record.offset() <= this.split.getOrDefault(partitionOf(record), -1L));
    }

    /** Forgets what another consumer may process by now, and partitions assigned anew: their topic may be a new one. */
    void rebalance(Set<TopicPartition> assignment, Collection<TopicPartition> assigned) {
        for (Map<TopicPartition, Long> offsets : List.of(this.split, this.retried)) {
            offsets.keySet().retainAll(assignment);
            offsets.keySet().removeAll(assigned);
        }
    }

    /** Position of each partition when it was assigned, unless the application has sought since, from whatever thread. */
    public Map<TopicPartition, Long> starts() {
        return this.starts;
    }

    /** Calls {@code ended} when a retried record is done. */
    void expectRetry(ConsumerRecord<?, ?> record, Runnable ended) {
        this.retried.put(partitionOf(record), record.offset());
        this.afterRetry = ended;
    }

    /** The record is done, and so are those before it in its partition. */
    void endRetry(ConsumerRecord<?, ?> record) {
        if (!this.retried.isEmpty()
                && this.retried.getOrDefault(partitionOf(record), Long.MAX_VALUE) <= record.offset()) {
            this.retried.remove(partitionOf(record));
            this.afterRetry.run();
        }
    }

    /** Whether a failed record is still to be redelivered. */
    boolean isRetryExpected() {
        return !this.retried.isEmpty();
    }

    boolean isRetryExpected(TopicPartition partition) {
        return this.retried.containsKey(partition);
    }

    void requestPause(Duration duration) {
        this.requestedPause = duration;
    }

    @Nullable
    Duration takeRequestedPause() {
        Duration requested = this.requestedPause;
        this.requestedPause = null;
        return requested;
    }

    public static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }
}
