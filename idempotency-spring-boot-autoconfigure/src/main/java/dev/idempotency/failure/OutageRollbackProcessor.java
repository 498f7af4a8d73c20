package dev.idempotency.failure;

import dev.idempotency.failure.RollbackErrorHandler.RollbackException;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.ContainerProperties.EOSMode;
import org.springframework.kafka.listener.DeliveryAttemptAware;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/** Does what {@link OutageErrorHandler} does, for containers with Kafka transactions. */
final class OutageRollbackProcessor<K, V> implements AfterRollbackProcessor<K, V>, DeliveryAttemptAware {

    private final AfterRollbackProcessor<K, V> delegate;
    private final ContainerSuspension suspension;
    private final boolean pausing;
    private final Redelivery redelivery = new Redelivery();

    /** {@code pausing} says whether there are to be pauses after what the delegate makes come again at once. */
    OutageRollbackProcessor(AfterRollbackProcessor<K, V> delegate, ContainerSuspension suspension, boolean pausing) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.pausing = pausing;
    }

    AfterRollbackProcessor<K, V> delegate() {
        return this.delegate;
    }

    @Override
    public void process(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception exception,
            boolean recoverable,
            EOSMode eosMode) {
        List<ConsumerRecord<K, V>> remaining = remaining(records, exception);
        process(
                remaining,
                remaining.subList(0, 1),
                consumer,
                Objects.requireNonNull(container),
                exception,
                failure -> this.delegate.process(remaining, consumer, container, failure, recoverable, eosMode));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // They are of the same poll.
    private static <K, V> List<ConsumerRecord<K, V>> remaining(List<ConsumerRecord<K, V>> known, Exception thrown) {
        return (thrown instanceof RollbackException rollback) ? (List) rollback.records() : known;
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
        process(
                recordList,
                recordList,
                consumer,
                Objects.requireNonNull(container),
                exception,
                failure -> this.delegate.processBatch(
                        records, recordList, consumer, container, failure, recoverable, eosMode));
    }

    /** Makes the records come again after a pause if they must through no fault of theirs; else the delegate decides. */
    private void process(
            List<ConsumerRecord<K, V>> records,
            List<ConsumerRecord<K, V>> failed,
            Consumer<K, V> consumer,
            MessageListenerContainer container,
            Exception thrown,
            java.util.function.Consumer<Exception> processing) {
        Exception failure =
                Causes.makeFinite((thrown instanceof RollbackException rollback) ? rollback.failure() : thrown);
        if (Redelivery.isRequestedBy(failure) || this.suspension.trySuspend(failure, failed, container)) {
            Redelivery.seekToFirst(records, consumer);
            return;
        }
        try {
            processing.accept(failure);
        } catch (Throwable ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer, container);
            this.suspension.observer().retried(failed.size());
            throw kept;
        }
        ConsumerRecord<K, V> first = records.get(0);
        if (Redelivery.isSoughtBack(List.of(first), consumer)) {
            this.redelivery.expect(first, consumer);
            this.suspension.observer().retried(failed.size());
            if (this.pausing) {
                this.suspension.pauseBeforeRetry(first, container);
            }
        } else {
            this.redelivery.forget(first);
        }
    }

    @Override
    public void clearThreadState() {
        this.suspension.recordSuccess();
        if (!this.redelivery.isExpected()) {
            this.delegate.clearThreadState();
        }
    }

    /** How often a record has been delivered, as the first time if the delegate does not count. */
    @Override
    public int deliveryAttempt(TopicPartitionOffset record) {
        return (this.delegate instanceof DeliveryAttemptAware counting) ? counting.deliveryAttempt(record) : 1;
    }

    @Override
    public boolean isProcessInTransaction() {
        return this.delegate.isProcessInTransaction();
    }
}
