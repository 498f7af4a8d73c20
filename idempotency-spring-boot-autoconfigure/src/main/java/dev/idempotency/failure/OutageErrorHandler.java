package dev.idempotency.failure;

import java.io.Serial;
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
 * Stands before a container's error handler, whosever that is, and keeps from it what is not the message's fault: such
 * records are delivered again, in order, until they succeed, with pauses in which the consumer goes on polling.
 */
final class OutageErrorHandler implements CommonErrorHandler {

    private final CommonErrorHandler delegate;
    private final ContainerSuspension suspension;

    OutageErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension) {
        this.delegate = delegate;
        this.suspension = suspension;
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
        if (records.isEmpty() || this.suspension.isMessagesFault(thrown)) {
            try {
                this.delegate.handleRemaining(thrown, records, consumer, container);
            } catch (RuntimeException ex) {
                this.suspension.observer().retried(1);
                throw ex;
            }
        } else {
            this.suspension.suspend(thrown, records.get(0), 1, container);
            throw this.suspension.seekBack(thrown, records, consumer, container);
        }
    }

    @Override
    public boolean handleOne(
            Exception thrown,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        if (!this.suspension.isMessagesFault(thrown)) {
            this.suspension.suspend(thrown, record, 1, container);
            return false;
        }
        boolean handled = this.delegate.handleOne(thrown, record, consumer, container);
        if (!handled) {
            this.suspension.observer().retried(1);
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
        Exception failure = thrown;
        if (data.isEmpty() || this.suspension.isMessagesFault(thrown)) {
            try {
                this.delegate.handleBatch(thrown, data, consumer, container, retry(invokeListener, data.count()));
                return;
            } catch (OutageDuringRetry outage) {
                failure = outage.failure;
            } catch (RuntimeException ex) {
                this.suspension.observer().retried(comingAgain(ex, data, consumer));
                throw ex;
            }
        }
        this.suspension.suspend(failure, first(data), data.count(), container);
        throw this.suspension.seekBack(failure, ContainerSuspension.asList(data), consumer, container);
    }

    /** How many come again because they failed: the one that is named, if it was not recovered, or else all. */
    private static int comingAgain(RuntimeException failure, ConsumerRecords<?, ?> data, Consumer<?, ?> consumer) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            return data.count();
        }
        TopicPartition partition = new TopicPartition(named.topic(), named.partition());
        boolean recovered = consumer.assignment().contains(partition) && consumer.position(partition) > named.offset();
        return recovered ? 0 : 1;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        Exception failure = thrown;
        if (data.isEmpty() || this.suspension.isMessagesFault(thrown)) {
            try {
                ConsumerRecords<K, V> remaining = this.delegate.handleBatchAndReturnRemaining(
                        thrown, data, consumer, container, retry(invokeListener, data.count()));
                this.suspension.observer().retried(comingAgain(thrown, remaining));
                return remaining;
            } catch (OutageDuringRetry outage) {
                failure = outage.failure;
            }
        }
        this.suspension.suspend(failure, first(data), data.count(), container);
        return (ConsumerRecords<K, V>) data;
    }

    /** The same, of those that the container keeps and delivers again. */
    private static int comingAgain(Exception failure, ConsumerRecords<?, ?> remaining) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            return remaining.count();
        }
        return remaining.records(new TopicPartition(named.topic(), named.partition())).stream()
                        .anyMatch(record -> record.offset() == named.offset())
                ? 1
                : 0;
    }

    private static ConsumerRecord<?, ?> first(ConsumerRecords<?, ?> data) {
        return data.iterator().next();
    }

    /** Error handlers retry batches in a loop that counts every exception; the database's leave it at once. */
    private Runnable retry(Runnable invokeListener, int count) {
        return () -> {
            this.suspension.observer().retried(count);
            try {
                invokeListener.run();
            } catch (RuntimeException ex) {
                if (this.suspension.isMessagesFault(ex)) {
                    throw ex;
                }
                throw new OutageDuringRetry(ex);
            }
        };
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.delegate.handleOtherException(thrown, consumer, container, batchListener);
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
        this.suspension.end();
        this.delegate.clearThreadState();
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

    /** No exception, as the loop that it has to leave catches those. */
    private static final class OutageDuringRetry extends Error {

        @Serial
        private static final long serialVersionUID = 1L;

        private final transient RuntimeException failure;

        OutageDuringRetry(RuntimeException failure) {
            super(null, failure, false, false);
            this.failure = failure;
        }
    }
}
