package dev.idempotency.internal.failure;

import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.util.ArrayList;
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
 * Wraps a container's error handler, which is asked about the message's own failures only. After any other failure the
 * same records are redelivered until they succeed. If several fail together, they are then processed one by one, and
 * the error handler gets the one that failed, as that of a record listener. Redelivery is by seeking: a listener may have
 * changed its payload.
 */
record SuspendingErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension)
        implements CommonErrorHandler {

    @Override
    public void handleRemaining(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        if (this.suspension.trySuspend(failure, List.of(records.get(0)))) {
            throw Redelivery.seekBack(failure, records, consumer);
        }
        handleFirst(failure, records, consumer, container);
    }

    /** Hands the first record, which failed, to the error handler, with those behind it. */
    private void handleFirst(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        ConsumerRecord<?, ?> first = records.get(0);
        try {
            if (this.delegate.seeksAfterHandling()) {
                this.delegate.handleRemaining(failure, records, consumer, container);
            } else if (this.delegate.handleOne(failure, first, consumer, container)) {
                Redelivery.seekToFirst(records.subList(1, records.size()), consumer);
            } else {
                throw Redelivery.seekBack(failure, records, consumer);
            }
            ConsumerThreadState.current().endRetry(first);
            this.suspension.retainDeadLetters();
        } catch (Throwable ex) {
            RuntimeException kept = this.suspension.ensureRedelivery(ex, this.delegate, records, consumer);
            ConsumerThreadState.current().expectRetry(first);
            this.suspension.pauseIfRequested(first);
            this.suspension.observer().retried(1);
            throw kept;
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
        try {
            handleFirst(BatchFailure.withoutName(failure), new ArrayList<>(List.of(failed)), consumer, container);
        } finally {
            Redelivery.seekToFirst(
                    records.stream()
                            .filter(record -> !ConsumerThreadState.partitionOf(record)
                                    .equals(ConsumerThreadState.partitionOf(failed)))
                            .toList(),
                    consumer);
        }
        throw Redelivery.seekAfter(failure, failed, consumer, container);
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

    /**
     * Called after any success, also in another partition: a failed record would be retried forever without its count.
     */
    @Override
    public void clearThreadState() {
        boolean retrying = ConsumerThreadState.current().isRetryExpected();
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

    @Override
    public LogAccessor logger() {
        return this.delegate.logger();
    }

    @Override
    public String toString() {
        return this.delegate + ", after outages";
    }
}
