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
 * Stands before a container's error handler, whosever that is, and keeps from it what is not the message's fault: such
 * records are delivered again, in order, until they succeed, with pauses in which the consumer goes on polling.
 */
final class OutageErrorHandler implements CommonErrorHandler {

    private final CommonErrorHandler delegate;
    private final ContainerSuspension suspension;
    private final RecordsInRetry inRetry = new RecordsInRetry();
    private final PollFailures pollFailures;

    OutageErrorHandler(CommonErrorHandler delegate, ContainerSuspension suspension) {
        this.delegate = delegate;
        this.suspension = suspension;
        this.pollFailures = new PollFailures(delegate, suspension);
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
        if (SettledDelivery.take(first)) {
            RuntimeException suspended = this.suspension.seekBack(thrown, records, consumer, container);
            this.suspension.pauseAfterCommit(thrown, first, container);
            throw suspended;
        }
        Exception failure = Causes.straighten(thrown);
        if (this.suspension.isMessagesFault(failure, first)) {
            try {
                this.delegate.handleRemaining(failure, records, consumer, container);
                this.inRetry.remove(first);
            } catch (RuntimeException | Error ex) {
                this.inRetry.add(first, consumer);
                RuntimeException kept = this.suspension.keep(ex, this.delegate, records, consumer, container);
                this.suspension.observer().retried(1);
                throw kept;
            }
        } else {
            RuntimeException suspended = this.suspension.seekBack(failure, records, consumer, container);
            this.suspension.suspend(failure, first, 1, container);
            throw suspended;
        }
    }

    @Override
    public boolean handleOne(
            Exception thrown,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        if (SettledDelivery.take(record)) {
            this.suspension.pauseAfterCommit(thrown, record, container);
            return false;
        }
        Exception failure = Causes.straighten(thrown);
        if (!this.suspension.isMessagesFault(failure, record)) {
            this.suspension.suspend(failure, record, 1, container);
            return false;
        }
        if (handledByDelegate(failure, record, consumer, container)) {
            this.inRetry.remove(record);
            return true;
        }
        this.inRetry.add(record, consumer);
        this.suspension.observer().retried(1);
        return false;
    }

    private boolean handledByDelegate(
            Exception failure,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        try {
            return this.delegate.handleOne(failure, record, consumer, container);
        } catch (RuntimeException | Error ex) {
            FatalErrors.rethrow(ex);
            ContainerSuspension.tellOfFailedHandler(ex, this.delegate, record);
            this.suspension.pauseUnblamed(record, container);
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
        if (data.isEmpty()) {
            this.delegate.handleBatch(thrown, data, consumer, container, invokeListener);
            return;
        }
        List<ConsumerRecord<?, ?>> records = ContainerSuspension.asList(data);
        if (SettledDelivery.take(data)) {
            RuntimeException suspended = this.suspension.seekBack(thrown, records, consumer, container);
            this.suspension.pauseAfterCommit(thrown, records.get(0), container);
            throw suspended;
        }
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.isMessagesFault(failure, data)) {
            try {
                this.delegate.handleBatch(failure, data, consumer, container, retry(invokeListener, data));
                records.forEach(this.inRetry::remove);
                return;
            } catch (OutageDuringRetry outage) {
                failure = outage.failure();
            } catch (RuntimeException | Error ex) {
                RuntimeException kept = this.suspension.keep(ex, this.delegate, records, consumer, container);
                this.suspension.observer().retried(comingAgain(kept, data, consumer));
                throw kept;
            }
        }
        RuntimeException suspended = this.suspension.seekBack(failure, records, consumer, container);
        this.suspension.suspend(failure, records.get(0), data.count(), container);
        throw suspended;
    }

    /** How many come again because they failed: the one that is named, if it was not recovered, or else all. */
    private int comingAgain(RuntimeException failure, ConsumerRecords<?, ?> data, Consumer<?, ?> consumer) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            return data.count();
        }
        TopicPartition partition = new TopicPartition(named.topic(), named.partition());
        if (consumer.assignment().contains(partition) && consumer.position(partition) > named.offset()) {
            this.inRetry.remove(named);
            return 0;
        }
        this.inRetry.add(named, consumer);
        return 1;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        if (data.isEmpty()) {
            return this.delegate.handleBatchAndReturnRemaining(thrown, data, consumer, container, invokeListener);
        }
        if (SettledDelivery.take(data)) {
            this.suspension.pauseAfterCommit(thrown, first(data), container);
            return (ConsumerRecords<K, V>) data;
        }
        Exception failure = NamedFailure.forErrorHandler(thrown);
        if (this.suspension.isMessagesFault(failure, data)) {
            try {
                ConsumerRecords<K, V> remaining = this.delegate.handleBatchAndReturnRemaining(
                        failure, data, consumer, container, retry(invokeListener, data));
                this.suspension.observer().retried(comingAgain(failure, remaining, consumer));
                return remaining;
            } catch (OutageDuringRetry outage) {
                failure = outage.failure();
            } catch (RuntimeException | Error ex) {
                FatalErrors.rethrow(ex);
                if (ContainerSuspension.isSoughtBack(ContainerSuspension.asList(data), consumer)) {
                    throw ex;
                }
                ContainerSuspension.tellOfFailedHandler(ex, this.delegate, first(data));
                this.suspension.pauseUnblamed(first(data), container);
                return (ConsumerRecords<K, V>) data;
            }
        }
        this.suspension.suspend(failure, first(data), data.count(), container);
        return (ConsumerRecords<K, V>) data;
    }

    /** The same, of those that the container keeps and delivers again. */
    private int comingAgain(Exception failure, ConsumerRecords<?, ?> remaining, Consumer<?, ?> consumer) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named == null) {
            return remaining.count();
        }
        if (remaining.records(new TopicPartition(named.topic(), named.partition())).stream()
                .anyMatch(record -> record.offset() == named.offset())) {
            this.inRetry.add(named, consumer);
            return 1;
        }
        this.inRetry.remove(named);
        return 0;
    }

    private static ConsumerRecord<?, ?> first(ConsumerRecords<?, ?> data) {
        return data.iterator().next();
    }

    /** Error handlers retry batches in a loop that counts every exception; the database's leave it at once. */
    private Runnable retry(Runnable invokeListener, ConsumerRecords<?, ?> data) {
        return () -> {
            this.suspension.observer().retried(data.count());
            try {
                invokeListener.run();
            } catch (RuntimeException ex) {
                Exception failure = NamedFailure.forErrorHandler(ex);
                if (!this.suspension.isMessagesFaultAgain(failure, data)) {
                    throw new OutageDuringRetry(failure);
                }
                throw (RuntimeException) failure;
            }
        };
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.pollFailures.handle(Causes.straighten(thrown), consumer, container, batchListener);
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
        if (this.inRetry.isEmpty()) {
            this.delegate.clearThreadState();
        }
    }

    /** Called instead of {@link #clearThreadState} by Spring Kafka 4.2 when a batch has succeeded; 4.1 has no such method. */
    public void clearThreadStateFor(Collection<TopicPartition> partitions) {
        this.suspension.end();
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
