package dev.idempotency.failure;

import dev.idempotency.kafka.ContainerFacts;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.ContainerProperties.EOSMode;
import org.springframework.kafka.listener.DeliveryAttemptAware;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Does what {@link OutageErrorHandler} does, for containers with Kafka transactions. */
final class OutageRollbackProcessor<K, V> implements AfterRollbackProcessor<K, V>, DeliveryAttemptAware {

    private final AfterRollbackProcessor<K, V> delegate;
    private final ContainerSuspension suspension;
    private final RollbackErrorHandler errorHandler;
    private final boolean pausing;
    private final Redelivery redelivery = new Redelivery();

    /**
     * Stands before a processor.
     *
     * @param errorHandler what the container hands the rest of its poll to
     * @param pausing whether there are pauses before what the processor has come again
     */
    OutageRollbackProcessor(
            AfterRollbackProcessor<K, V> delegate,
            ContainerSuspension suspension,
            RollbackErrorHandler errorHandler,
            boolean pausing) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.errorHandler = errorHandler;
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
        List<ConsumerRecord<K, V>> all = this.errorHandler.withRemaining(records);
        process(
                all,
                all.subList(0, 1),
                consumer,
                Objects.requireNonNull(container),
                exception,
                failure -> this.delegate.process(all, consumer, container, failure, recoverable, eosMode));
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
        Exception failure = Causes.makeFinite(RollbackErrorHandler.failureOf(thrown));
        if (Redelivery.isRequestedBy(failure)) {
            return;
        }
        boolean leftToErrorHandler = isLeftToErrorHandler(container);
        if (leftToErrorHandler && isKnownToBeSoughtBack(records, consumer)) {
            return;
        }
        if (this.suspension.trySuspend(failure, failed, container) || leftToErrorHandler) {
            Redelivery.seekToFirst(records, consumer);
            return;
        }
        try {
            execute(() -> processing.accept(failure), records, consumer, container);
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

    private boolean isKnownToBeSoughtBack(List<ConsumerRecord<K, V>> records, Consumer<K, V> consumer) {
        try {
            return Redelivery.isSoughtBack(records, consumer);
        } catch (RuntimeException ex) {
            // They come again once too often.
            return false;
        }
    }

    /**
     * Whether the application has an error handler alone: what Spring Kafka adds to it would have a batch come again as a whole,
     * with the message that the error handler has given up.
     */
    private boolean isLeftToErrorHandler(MessageListenerContainer container) {
        return container instanceof AbstractMessageListenerContainer<?, ?> configured
                && configured.getCommonErrorHandler() instanceof OutageErrorHandler
                && RetryingRollbackProcessor.isToBeProvidedFor(this.delegate);
    }

    /** Has the delegate process the records, in a transaction if it wants one: without that nothing it did has happened. */
    private void execute(
            Runnable processing,
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            MessageListenerContainer container) {
        KafkaAwareTransactionManager<?, ?> transactions = ContainerFacts.kafkaTransactionsOf(container);
        if (transactions == null || !this.delegate.isProcessInTransaction()) {
            processing.run();
            return;
        }
        TransactionDefinition definition = container.getContainerProperties().getTransactionDefinition();
        TransactionTemplate template = (definition != null)
                ? new TransactionTemplate(transactions, definition)
                : new TransactionTemplate(transactions);
        try {
            template.executeWithoutResult(status -> processing.run());
        } catch (RuntimeException ex) {
            Redelivery.seekToFirst(records, consumer);
            this.suspension.pauseAfterFailedHandler(ex, this.delegate, records.get(0), container);
            throw ex;
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

    /** It opens the delegate's transaction itself: the container would not call it if that cannot begin. */
    @Override
    public boolean isProcessInTransaction() {
        return false;
    }
}
