package dev.idempotency.failure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
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
    private final RecordsInRetry inRetry = new RecordsInRetry();

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
        Exception failure = Causes.straighten(exception);
        if (!isSuspended(records, consumer, container, failure, SettledDelivery::take)) {
            guard(
                    records,
                    consumer,
                    container,
                    () -> this.delegate.process(records, consumer, container, failure, recoverable, eosMode));
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
        Exception failure = Causes.straighten(exception);
        if (!isSuspended(recordList, consumer, container, failure, first -> SettledDelivery.take(records))) {
            guard(
                    recordList,
                    consumer,
                    container,
                    () -> this.delegate.processBatch(
                            records, recordList, consumer, container, failure, recoverable, eosMode));
        }
    }

    /** Seeks back and pauses what is not the message's fault. */
    private boolean isSuspended(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception failure,
            Predicate<ConsumerRecord<K, V>> isSettled) {
        if (failure instanceof ConsumptionSuspended) {
            ContainerSuspension.seekToFirst(records, consumer);
            return true;
        }
        if (records.isEmpty() || container == null) {
            return false;
        }
        ConsumerRecord<K, V> first = records.get(0);
        if (isSettled.test(first)) {
            ContainerSuspension.seekToFirst(records, consumer);
            this.suspension.pauseAfterCommit(failure, first, container);
            return true;
        }
        if (this.suspension.isMessagesFault(failure, first)) {
            return false;
        }
        ContainerSuspension.seekToFirst(records, consumer);
        this.suspension.suspend(failure, first, 1, container);
        return true;
    }

    /** Lets the delegate decide; whatever it throws, its records come again. */
    private void guard(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Runnable processing) {
        try {
            processing.run();
        } catch (RuntimeException | Error ex) {
            if (container == null || records.isEmpty()) {
                throw ex;
            }
            throw this.suspension.keep(ex, this.delegate, new ArrayList<>(records), consumer, container);
        }
        if (!records.isEmpty()) {
            remember(records.get(0), consumer);
        }
    }

    private void remember(ConsumerRecord<K, V> first, Consumer<K, V> consumer) {
        if (ContainerSuspension.isSoughtBack(List.of(first), consumer)) {
            this.inRetry.add(first, consumer);
        } else {
            this.inRetry.remove(first);
        }
    }

    @Override
    public void clearThreadState() {
        this.suspension.end();
        if (this.inRetry.isEmpty()) {
            this.delegate.clearThreadState();
        }
    }

    @Override
    public boolean isProcessInTransaction() {
        return this.delegate.isProcessInTransaction();
    }
}
