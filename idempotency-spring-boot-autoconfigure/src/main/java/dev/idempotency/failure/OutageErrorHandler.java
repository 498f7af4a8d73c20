package dev.idempotency.failure;

import dev.idempotency.kafka.SpringKafkaInternals;
import java.io.Serial;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/**
 * Wraps a container's error handler, be it the application's or the provided one, which is asked about the message's own
 * failures alone. After any other failure the same records are delivered again, in order, until they succeed, with pauses
 * in which the consumer goes on polling.
 */
final class OutageErrorHandler implements CommonErrorHandler {

    private final CommonErrorHandler delegate;
    private final ContainerSuspension suspension;
    private final boolean seeks;
    private final Redelivery redelivery = new Redelivery();
    private final PollFailureHandler pollFailures;

    /** Leaves an error handler's loop of retries. It is no exception, as that loop catches those. */
    private static final class OutageDuringRetry extends Error {

        @Serial
        private static final long serialVersionUID = 1L;

        private final transient Exception failure;

        OutageDuringRetry(Exception failure) {
            super(null, failure, false, false);
            this.failure = failure;
        }
    }

    /**
     * Stands before an error handler.
     *
     * @param seeks whether the container gets records again only by seeking, whatever the error handler does
     */
    OutageErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension, boolean seeks) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.seeks = seeks;
        this.pollFailures = new PollFailureHandler(delegate, suspension);
    }

    CommonErrorHandler delegate() {
        return this.delegate;
    }

    @Override
    public void handleRemaining(
            Exception thrown,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        ConsumerRecord<?, ?> first = records.get(0);
        Exception failure = Causes.makeFinite(thrown);
        if (this.suspension.trySuspend(failure, List.of(first), container)) {
            throw Redelivery.seekBack(failure, records, consumer, container);
        }
        try {
            this.delegate.handleRemaining(failure, records, consumer, container);
            this.redelivery.forget(first);
        } catch (Throwable ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer, container);
            recordRetry(first, consumer);
            throw kept;
        }
    }

    @Override
    public boolean handleOne(
            Exception thrown,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        Exception failure = Causes.makeFinite(thrown);
        if (this.suspension.trySuspend(failure, List.of(record), container)) {
            return false;
        }
        boolean handled = false;
        try {
            handled = this.delegate.handleOne(failure, record, consumer, container);
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            this.suspension.pauseAfterFailedHandler(ex, this.delegate, record, container);
        }
        if (handled) {
            this.redelivery.forget(record);
        } else {
            recordRetry(record, consumer);
        }
        return handled;
    }

    @Override
    public void handleBatch(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        List<ConsumerRecord<?, ?>> records = Redelivery.asList(data);
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.trySuspend(failure, records, container)) {
            throw Redelivery.seekBack(failure, records, consumer, container);
        }
        try {
            handleBatchBySeeking(failure, data, consumer, container, retry(invokeListener, records, container));
            records.forEach(this.redelivery::forget);
        } catch (OutageDuringRetry outage) {
            throw Redelivery.seekBack(outage.failure, records, consumer, container);
        } catch (Throwable ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer, container);
            recordRetries(kept, records.size(), named -> Redelivery.isSoughtBack(List.of(named), consumer), consumer);
            throw kept;
        }
    }

    /** Some containers have a batch handled so, whatever the handler does: what one returns that does not seek would be lost. */
    private void handleBatchBySeeking(
            Exception failure,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable retry) {
        if (this.delegate.seeksAfterHandling()) {
            this.delegate.handleBatch(failure, data, consumer, container, retry);
            return;
        }
        ConsumerRecords<?, ?> remaining =
                this.delegate.handleBatchAndReturnRemaining(failure, data, consumer, container, retry);
        if (!remaining.isEmpty()) {
            throw Redelivery.seekBack(failure, Redelivery.asList(remaining), consumer, container);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // What comes again is the container's own batch.
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        List<ConsumerRecord<?, ?>> records = Redelivery.asList(data);
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.trySuspend(failure, records, container)) {
            return (ConsumerRecords<K, V>) data;
        }
        try {
            ConsumerRecords<K, V> remaining = this.delegate.handleBatchAndReturnRemaining(
                    failure, data, consumer, container, retry(invokeListener, records, container));
            recordRetries(failure, remaining.count(), named -> contains(remaining, named), consumer);
            return inOrderOf(data, remaining);
        } catch (OutageDuringRetry outage) {
            return (ConsumerRecords<K, V>) data;
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            if (Redelivery.isSoughtBack(records, consumer)) {
                throw ex;
            }
            this.suspension.pauseAfterFailedHandler(ex, this.delegate, records.get(0), container);
            return (ConsumerRecords<K, V>) data;
        }
    }

    /** Containers commit all that comes before the first of them, which Spring Kafka's handler may give in another order. */
    private static <K, V> ConsumerRecords<K, V> inOrderOf(ConsumerRecords<?, ?> data, ConsumerRecords<K, V> remaining) {
        Map<TopicPartition, List<ConsumerRecord<K, V>>> ordered = new LinkedHashMap<>();
        data.partitions().stream()
                .filter(remaining.partitions()::contains)
                .forEach(partition -> ordered.put(partition, remaining.records(partition)));
        return new ConsumerRecords<>(ordered, Map.of());
    }

    private static boolean contains(ConsumerRecords<?, ?> records, ConsumerRecord<?, ?> record) {
        return records.records(Redelivery.partitionOf(record)).stream()
                .anyMatch(each -> each.offset() == record.offset());
    }

    /** Error handlers retry batches in a loop that counts every exception; one that is not the message's leaves it. */
    private Runnable retry(
            Runnable invokeListener, List<ConsumerRecord<?, ?>> records, MessageListenerContainer container) {
        return () -> {
            this.suspension.observer().retried(records.size());
            try {
                DeliveryContext.retryInPlace(invokeListener);
            } catch (RuntimeException ex) {
                Exception failure = NamedFailure.forErrorHandler(ex);
                if (this.suspension.trySuspendRetry(failure, records, container)) {
                    throw new OutageDuringRetry(failure);
                }
                throw (RuntimeException) failure;
            }
        };
    }

    /** Counts what comes again of a batch that failed: the record that is named, unless it was recovered, or else all. */
    private void recordRetries(
            Exception failure, int all, Predicate<ConsumerRecord<?, ?>> comesAgain, Consumer<?, ?> consumer) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            this.suspension.observer().retried(all);
        } else if (comesAgain.test(named)) {
            recordRetry(named, consumer);
        } else {
            this.redelivery.forget(named);
        }
    }

    private void recordRetry(ConsumerRecord<?, ?> record, Consumer<?, ?> consumer) {
        this.redelivery.expect(record, consumer);
        this.suspension.observer().retried(1);
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.pollFailures.handle(Causes.makeFinite(thrown), consumer, container, batchListener);
    }

    @Override
    public boolean seeksAfterHandling() {
        return this.seeks || this.delegate.seeksAfterHandling();
    }

    @Override
    public boolean deliveryAttemptHeader() {
        return this.delegate.deliveryAttemptHeader();
    }

    @Override
    public int deliveryAttempt(TopicPartitionOffset topicPartitionOffset) {
        return this.delegate.deliveryAttempt(topicPartitionOffset);
    }

    @Override
    public void clearThreadState() {
        this.suspension.recordSuccess();
        if (!this.redelivery.isExpected()) {
            this.delegate.clearThreadState();
        }
    }

    /** Called instead of {@link #clearThreadState} by Spring Kafka 4.2 when a batch has succeeded; 4.1 has no such method. */
    public void clearThreadStateFor(Collection<TopicPartition> partitions) {
        this.suspension.recordSuccess();
        SpringKafkaInternals.clearThreadStateFor(this.delegate, partitions);
    }

    @Override
    public boolean isAckAfterHandle() {
        return this.delegate.isAckAfterHandle();
    }

    @Override
    public void setAckAfterHandle(boolean ack) {
        this.delegate.setAckAfterHandle(ack);
    }

    @Override
    public void onPartitionsAssigned(
            Consumer<?, ?> consumer, Collection<TopicPartition> partitions, Runnable publishPause) {
        this.delegate.onPartitionsAssigned(consumer, partitions, publishPause);
    }

    @Override
    public LogAccessor logger() {
        return this.delegate.logger();
    }

    @Override
    public String toString() {
        return this.delegate + ", after outages";
    }
}
