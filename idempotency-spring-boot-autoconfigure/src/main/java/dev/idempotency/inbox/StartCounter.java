package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.StoreExceptionTranslator;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Counts in the table which calls of a consumer's listener have begun, so that a message that ends its process each time is
 * given up.
 *
 * <p>Such a message comes again as the first of its partition that has not been processed. So only that one is counted,
 * until a delivery of the partition has succeeded in this process; after that, counting costs nothing. A message without
 * an id is not counted, as it is not kept.
 */
final class StartCounter {

    static final long NONE = -1;

    /**
     * What this process knows of a partition.
     *
     * @param settled whether a delivery has succeeded
     * @param suspect whether its first message had been started before, and had not ended
     * @param counted the offset of the message that was counted and has not been cleared since
     * @param givenUp the offset of the message that was recorded as given up
     */
    record Knowledge(boolean settled, boolean suspect, long counted, long givenUp) {

        private static final Knowledge NOTHING = new Knowledge(false, false, NONE, NONE);

        static final Knowledge SETTLED = new Knowledge(true, false, NONE, NONE);

        Knowledge asSuspect() {
            return new Knowledge(false, true, this.counted, this.givenUp);
        }

        Knowledge withCounted(long offset) {
            return new Knowledge(false, this.suspect, offset, this.givenUp);
        }

        Knowledge withGivenUp(long offset) {
            return new Knowledge(false, true, NONE, offset);
        }
    }

    private final String consumer;
    private final JdbcProcessedMessageStore store;
    private final StartTable table;
    private final TransactionTemplate transaction;
    private final int maxStarts;
    private final BiConsumer<List<DeliveredMessage>, Throwable> failures;
    private final Map<TopicPartition, Knowledge> partitions = new ConcurrentHashMap<>();

    /** {@code failures} records that messages have failed. */
    StartCounter(
            String consumer,
            JdbcProcessedMessageStore store,
            int maxStarts,
            BiConsumer<List<DeliveredMessage>, Throwable> failures) {
        this.consumer = consumer;
        this.store = store;
        this.table = new StartTable(store.database());
        this.transaction = store.database().newTransaction();
        this.maxStarts = maxStarts;
        this.failures = failures;
    }

    String consumer() {
        return this.consumer;
    }

    int maxStarts() {
        return this.maxStarts;
    }

    void recordFailure(DeliveredMessage message, Throwable failure) {
        this.failures.accept(List.of(message), failure);
    }

    Knowledge of(TopicPartition partition) {
        return this.partitions.getOrDefault(partition, Knowledge.NOTHING);
    }

    void learn(TopicPartition partition, Knowledge knowledge) {
        this.partitions.put(partition, knowledge);
    }

    void forget(TopicPartition partition) {
        this.partitions.remove(partition);
    }

    Set<MessageId> processed(Collection<MessageId> ids) {
        return this.store.find(Set.copyOf(ids)).keySet();
    }

    <T> T inNewTransaction(Function<StartTable, T> work) {
        try {
            return this.transaction.execute(status -> work.apply(this.table));
        } catch (RuntimeException ex) {
            throw StoreExceptionTranslator.translate("count the calls of consumer '" + this.consumer + "'", ex);
        }
    }
}
