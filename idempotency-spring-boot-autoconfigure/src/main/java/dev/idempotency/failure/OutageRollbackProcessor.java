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

/** Does what {@link OutageErrorHandler} does, for containers with Kafka transactions. */
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
        Exception failure = Causes.makeFinite(exception);
        if (!trySuspend(records, consumer, container, failure, SettledDelivery::take)) {
            callDelegate(
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
        Exception failure = Causes.makeFinite(exception);
        if (!trySuspend(recordList, consumer, container, failure, first -> SettledDelivery.take(records))) {
            callDelegate(
                    recordList,
                    consumer,
                    container,
                    () -> this.delegate.processBatch(
                            records, recordList, consumer, container, failure, recoverable, eosMode));
        }
    }

    /** Makes the records come again after a pause if they must through no fault of theirs; returns whether. */
    private boolean trySuspend(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception failure,
            Predicate<ConsumerRecord<K, V>> isSettled) {
        if (Redelivery.isRequestedBy(failure)) {
            Redelivery.seekToFirst(records, consumer);
            return true;
        }
        if (records.isEmpty() || container == null) {
            return false;
        }
        ConsumerRecord<K, V> first = records.get(0);
        if (!this.suspension.trySuspend(failure, first, isSettled.test(first), container)) {
            return false;
        }
        Redelivery.seekToFirst(records, consumer);
        return true;
    }

    /** Lets the delegate decide; whatever it throws, its records come again. */
    private void callDelegate(
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
            throw this.suspension.ensureRedelivery(ex, this.delegate, new ArrayList<>(records), consumer, container);
        }
        if (!records.isEmpty()) {
            updateRetries(records.get(0), consumer);
        }
    }

    private void updateRetries(ConsumerRecord<K, V> first, Consumer<K, V> consumer) {
        if (Redelivery.isSoughtBack(List.of(first), consumer)) {
            this.inRetry.add(first, consumer);
        } else {
            this.inRetry.remove(first);
        }
    }

    @Override
    public void clearThreadState() {
        this.suspension.recordSuccess();
        if (this.inRetry.isEmpty()) {
            this.delegate.clearThreadState();
        }
    }

    @Override
    public boolean isProcessInTransaction() {
        return this.delegate.isProcessInTransaction();
    }
}
