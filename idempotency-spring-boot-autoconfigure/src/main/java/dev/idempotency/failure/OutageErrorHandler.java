package dev.idempotency.failure;

import dev.idempotency.kafka.SpringKafkaInternals;
import java.util.Collection;
import java.util.List;
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
    private final RecordsInRetry inRetry = new RecordsInRetry();
    private final OutageBatchHandler batches;
    private final PollFailureHandler pollFailures;

    OutageErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.batches = new OutageBatchHandler(delegate, suspension, this.inRetry);
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
        if (records.isEmpty()) {
            this.delegate.handleRemaining(thrown, records, consumer, container);
            return;
        }
        ConsumerRecord<?, ?> first = records.get(0);
        Exception failure = Causes.makeFinite(thrown);
        if (this.suspension.trySuspend(failure, first, SettledDelivery.take(first), container)) {
            throw Redelivery.seekBack(failure, records, consumer, container);
        }
        try {
            this.delegate.handleRemaining(failure, records, consumer, container);
            this.inRetry.remove(first);
        } catch (RuntimeException | Error ex) {
            this.inRetry.add(first, consumer);
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer, container);
            this.suspension.observer().retried(1);
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
        if (this.suspension.trySuspend(failure, record, SettledDelivery.take(record), container)) {
            return false;
        }
        if (isHandledByDelegate(failure, record, consumer, container)) {
            this.inRetry.remove(record);
            return true;
        }
        this.inRetry.add(record, consumer);
        this.suspension.observer().retried(1);
        return false;
    }

    private boolean isHandledByDelegate(
            Exception failure,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        try {
            return this.delegate.handleOne(failure, record, consumer, container);
        } catch (RuntimeException | Error ex) {
            FatalErrors.rethrow(ex);
            this.suspension.pauseAfterFailedHandler(ex, this.delegate, record, container);
            return false;
        }
    }

    @Override
    public void handleBatch(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        this.batches.handle(thrown, data, consumer, container, invokeListener);
    }

    @Override
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        return this.batches.handleAndReturnRemaining(thrown, data, consumer, container, invokeListener);
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.pollFailures.handle(Causes.makeFinite(thrown), consumer, container, batchListener);
    }

    @Override
    public boolean seeksAfterHandling() {
        return this.delegate.seeksAfterHandling();
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
        if (this.inRetry.isEmpty()) {
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
