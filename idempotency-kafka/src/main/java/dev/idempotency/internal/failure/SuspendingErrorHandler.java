package dev.idempotency.internal.failure;

import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/**
 * Wraps a container's error handler, which is asked about the message's own failures only. After any other failure the
 * same records are redelivered until they succeed. If several fail together, they are then processed one by one, and
 * the error handler gets the one that failed. Redelivery is by seeking: a listener may have changed its payload.
 */
record SuspendingErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension)
        implements CommonErrorHandler {

    @Override
    public void handleRemaining(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        ConsumerRecord<?, ?> first = records.get(0);
        if (this.suspension.trySuspend(failure, List.of(first))) {
            throw Redelivery.seekBack(failure, records, consumer);
        }
        try {
            handleFirst(failure, records, consumer, container);
            ConsumerThreadState.current().endRetry(first);
            this.suspension.reportDeadLetter(first, failure);
        } catch (Throwable ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer);
            recordRetry(first);
            throw kept;
        }
    }

    private void handleFirst(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        if (this.delegate.seeksAfterHandling()) {
            this.delegate.handleRemaining(failure, records, consumer, container);
        } else if (this.delegate.handleOne(failure, records.get(0), consumer, container)) {
            Redelivery.seekToFirst(records.subList(1, records.size()), consumer);
        } else {
            throw Redelivery.seekBack(failure, records, consumer);
        }
    }

    @Override
    public void handleBatch(
            Exception failure,
            ConsumerRecords<?, ?> polled,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        List<ConsumerRecord<?, ?>> records = Redelivery.asList(polled);
        ConsumerThreadState state = ConsumerThreadState.current();
        ConsumerRecord<?, ?> named = BatchFailure.recordOf(failure);
        if (this.suspension.trySuspend(failure, records)) {
            throw Redelivery.seekBack(failure, records, consumer);
        }
        if (named == null && records.size() > 1 && !state.isSplit(records)) {
            state.split(records);
            throw Redelivery.seekBack(failure, records, consumer);
        }
        // A failure before the listener is reached, as of a BatchInterceptor, is attributed to the first record.
        ConsumerRecord<?, ?> failed = (named != null) ? named : records.get(0);
        state.split(List.of(failed));
        Exception naming = (named != null)
                ? failure
                : new ListenerExecutionFailedException(
                        String.valueOf(failure.getMessage()), container.getGroupId(), BatchFailure.at(failed, failure));
        handleNamed(naming, failed, polled, consumer, container);
        if (records.size() > 1) {
            throw Redelivery.seekAfter(failure, failed, consumer, container);
        }
    }

    /** Hands the failed record and those behind it to the error handler; other partitions are redelivered. */
    private void handleNamed(
            Exception failure,
            ConsumerRecord<?, ?> failed,
            ConsumerRecords<?, ?> polled,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        ConsumerRecords<?, ?> data = Redelivery.from(failed, polled);
        try {
            if (this.delegate.seeksAfterHandling()) {
                this.delegate.handleBatch(failure, data, consumer, container, SuspendingErrorHandler::refuseRetry);
            } else {
                ConsumerRecords<?, ?> remaining = this.delegate.handleBatchAndReturnRemaining(
                        failure, data, consumer, container, SuspendingErrorHandler::refuseRetry);
                if (!remaining.isEmpty()) {
                    throw Redelivery.seekBack(failure, Redelivery.asList(remaining), consumer);
                }
            }
            ConsumerThreadState.current().endRetry(failed);
        } catch (Throwable ex) {
            RuntimeException kept =
                    this.suspension.ensureRedelivery(ex, this.delegate, Redelivery.asList(data), consumer);
            if (Redelivery.isSoughtBack(List.of(failed), consumer)) {
                recordRetry(failed);
            } else {
                ConsumerThreadState.current().endRetry(failed);
            }
            throw kept;
        } finally {
            Redelivery.seekToFirst(
                    Redelivery.asList(polled).stream()
                            .filter(record -> !ConsumerThreadState.partitionOf(record)
                                    .equals(ConsumerThreadState.partitionOf(failed)))
                            .toList(),
                    consumer);
        }
    }

    /** Throws an {@code Error}, as a handler that catches exceptions would skip a record that was not retried. */
    private static void refuseRetry() {
        throw new AssertionError("The listener cannot be called again: throw an exception for redelivery");
    }

    private void recordRetry(ConsumerRecord<?, ?> record) {
        ConsumerThreadState.current().expectRetry(record, this.suspension::retainDeadLetters);
        this.suspension.pauseIfRequested(record);
        this.suspension.observer().retried(1);
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        // A failure of every poll would become a busy loop.
        Redelivery.pause();
        // The container forgets the records that it has polled.
        Redelivery.seekToCommitted(consumer, container);
        this.delegate.handleOtherException(thrown, consumer, container, batchListener);
    }

    @Override
    public boolean seeksAfterHandling() {
        return true;
    }

    @Override
    public boolean deliveryAttemptHeader() {
        return this.delegate.deliveryAttemptHeader();
    }

    @Override
    public int deliveryAttempt(TopicPartitionOffset topicPartitionOffset) {
        return this.delegate.deliveryAttempt(topicPartitionOffset);
    }

    /** Called after any success, in another partition too, which must not reset the count of a failed record; and at the stop. */
    @Override
    public void clearThreadState() {
        boolean retrying = ConsumerThreadState.current().isRetryExpected()
                && this.suspension.container().isRunning();
        this.suspension.recordSuccess();
        if (!retrying) {
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
        ConsumerThreadState.current().rebalance(consumer.assignment(), partitions);
        this.suspension.rebalance(consumer.assignment());
        this.delegate.onPartitionsAssigned(consumer, partitions, publishPause);
    }
}
