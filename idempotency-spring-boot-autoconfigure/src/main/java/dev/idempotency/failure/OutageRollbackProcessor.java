package dev.idempotency.failure;

import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.ContainerProperties.EOSMode;
import org.springframework.kafka.listener.MessageListenerContainer;

/** The same as {@link OutageErrorHandler}, for containers with Kafka transactions. */
final class OutageRollbackProcessor<K, V> implements AfterRollbackProcessor<K, V> {

    private final AfterRollbackProcessor<K, V> delegate;
    private final ContainerSuspension suspension;

    OutageRollbackProcessor(AfterRollbackProcessor<K, V> delegate, ContainerSuspension suspension) {
        this.delegate = delegate;
        this.suspension = suspension;
    }

    @Override
    public void process(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception exception,
            boolean recoverable,
            EOSMode eosMode) {
        if (isToBeSuspended(records, container, exception)) {
            ContainerSuspension.seekToFirst(records, consumer);
        } else {
            this.delegate.process(records, consumer, container, exception, recoverable, eosMode);
        }
    }

    @Override
    public void processBatch(
            ConsumerRecords<K, V> records,
            List<ConsumerRecord<K, V>> recordList,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception exception,
            boolean recoverable,
            EOSMode eosMode) {
        if (isToBeSuspended(recordList, container, exception)) {
            ContainerSuspension.seekToFirst(recordList, consumer);
        } else {
            this.delegate.processBatch(records, recordList, consumer, container, exception, recoverable, eosMode);
        }
    }

    private boolean isToBeSuspended(
            List<ConsumerRecord<K, V>> records, @Nullable MessageListenerContainer container, Exception exception) {
        if (exception instanceof ConsumptionSuspended) {
            return true;
        }
        if (records.isEmpty() || container == null || this.suspension.isMessagesFault(exception)) {
            return false;
        }
        this.suspension.suspend(exception, records.get(0), 1, container);
        return true;
    }

    @Override
    public void clearThreadState() {
        this.suspension.end();
        this.delegate.clearThreadState();
    }

    @Override
    public boolean isProcessInTransaction() {
        return this.delegate.isProcessInTransaction();
    }
}
