package dev.idempotency.failure;

import java.io.Serial;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/** What {@link OutageErrorHandler} does for batches, which error handlers retry in place or have delivered again. */
final class OutageBatchHandler {

    private final CommonErrorHandler delegate;
    private final ContainerSuspension suspension;
    private final RecordsInRetry inRetry;

    /** Leaves an error handler's loop of retries. It is no exception, as that loop catches those. */
    private static final class OutageDuringRetry extends Error {

        @Serial
        private static final long serialVersionUID = 1L;

        private final FailureKind kind;
        private final transient Exception failure;

        OutageDuringRetry(FailureKind kind, Exception failure) {
            super(null, failure, false, false);
            this.kind = kind;
            this.failure = failure;
        }
    }

    OutageBatchHandler(CommonErrorHandler delegate, ContainerSuspension suspension, RecordsInRetry inRetry) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.inRetry = inRetry;
    }

    void handle(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        if (data.isEmpty()) {
            this.delegate.handleBatch(thrown, data, consumer, container, invokeListener);
            return;
        }
        List<ConsumerRecord<?, ?>> records = Redelivery.asList(data);
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.trySuspend(failure, data, SettledDelivery.take(data), container)) {
            throw Redelivery.seekBack(failure, records, consumer, container);
        }
        try {
            this.delegate.handleBatch(failure, data, consumer, container, retry(invokeListener, data));
            records.forEach(this.inRetry::remove);
        } catch (OutageDuringRetry outage) {
            this.suspension.suspend(outage.kind, outage.failure, data, container);
            throw Redelivery.seekBack(outage.failure, records, consumer, container);
        } catch (RuntimeException | Error ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer, container);
            this.suspension
                    .observer()
                    .retried(countRetried(kept, data, consumer, record -> !isPassed(record, consumer)));
            throw kept;
        }
    }

    private static boolean isPassed(ConsumerRecord<?, ?> record, Consumer<?, ?> consumer) {
        TopicPartition partition = Redelivery.partitionOf(record);
        return consumer.assignment().contains(partition) && consumer.position(partition) > record.offset();
    }

    @SuppressWarnings("unchecked") // What comes again is the container's own batch.
    <K, V> ConsumerRecords<K, V> handleAndReturnRemaining(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        if (data.isEmpty()) {
            return this.delegate.handleBatchAndReturnRemaining(thrown, data, consumer, container, invokeListener);
        }
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.trySuspend(failure, data, SettledDelivery.take(data), container)) {
            return (ConsumerRecords<K, V>) data;
        }
        try {
            ConsumerRecords<K, V> remaining = this.delegate.handleBatchAndReturnRemaining(
                    failure, data, consumer, container, retry(invokeListener, data));
            this.suspension
                    .observer()
                    .retried(countRetried(failure, remaining, consumer, record -> contains(remaining, record)));
            return remaining;
        } catch (OutageDuringRetry outage) {
            this.suspension.suspend(outage.kind, outage.failure, data, container);
        } catch (RuntimeException | Error ex) {
            FatalErrors.rethrow(ex);
            if (Redelivery.isSoughtBack(Redelivery.asList(data), consumer)) {
                throw ex;
            }
            this.suspension.pauseAfterFailedHandler(
                    ex, this.delegate, data.iterator().next(), container);
        }
        return (ConsumerRecords<K, V>) data;
    }

    private static boolean contains(ConsumerRecords<?, ?> records, ConsumerRecord<?, ?> record) {
        return records.records(Redelivery.partitionOf(record)).stream()
                .anyMatch(each -> each.offset() == record.offset());
    }

    /** How many come again because they failed: the one that is named, if it was not recovered, or else all. */
    private int countRetried(
            Exception failure,
            ConsumerRecords<?, ?> remaining,
            Consumer<?, ?> consumer,
            Predicate<ConsumerRecord<?, ?>> comesAgain) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            return remaining.count();
        }
        if (comesAgain.test(named)) {
            this.inRetry.add(named, consumer);
            return 1;
        }
        this.inRetry.remove(named);
        return 0;
    }

    /** Error handlers retry batches in a loop that counts every exception; one that is not the message's leaves it. */
    private Runnable retry(Runnable invokeListener, ConsumerRecords<?, ?> data) {
        return () -> {
            this.suspension.observer().retried(data.count());
            try {
                invokeListener.run();
            } catch (RuntimeException ex) {
                Exception failure = NamedFailure.forErrorHandler(ex);
                FailureKind kind = this.suspension.judgeRetry(failure, data);
                if (kind != FailureKind.MESSAGE) {
                    throw new OutageDuringRetry(kind, failure);
                }
                throw (RuntimeException) failure;
            }
        };
    }
}
