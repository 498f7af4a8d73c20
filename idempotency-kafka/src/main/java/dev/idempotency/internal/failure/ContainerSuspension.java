package dev.idempotency.internal.failure;

import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.messaging.converter.MessageConversionException;

/** Pauses the consumers of one container while its records can only fail. The caller has them redelivered. */
record ContainerSuspension(
        Outage outage,
        ConsumerPauses pauses,
        IdempotencyEventListener observer,
        MessageListenerContainer container,
        Supplier<@Nullable DestinationTopicResolver> retryTopics) {

    private static final Logger logger = LoggerFactory.getLogger(ContainerSuspension.class);

    /** Pauses the consumer and returns {@code true}, for redelivery, unless the failure is the message's own. */
    boolean trySuspend(Exception failure, List<? extends ConsumerRecord<?, ?>> records) {
        ConsumerThreadState state = ConsumerThreadState.current();
        ConsumerRecord<?, ?> first = records.get(0);
        // Kafka's own, unlike the failures of listeners, is not wrapped.
        if (state.takeCommitted(records)
                || failure instanceof CommitFailedException
                || failure instanceof ApiException) {
            logger.warn(
                    "What follows a transaction failed, such as the commit of an offset. {} is redelivered, and dropped as"
                            + " a duplicate if it has been processed.",
                    KafkaCoordinates.of(first),
                    failure);
            pause(first, false, this.outage.longestPause());
            return true;
        }
        ConsumerRecord<?, ?> named = BatchFailure.recordOf(failure);
        FailureKind kind = this.outage.judge(failure, (named != null) ? named : first);
        if (kind == FailureKind.MESSAGE) {
            // The database has answered.
            recordSuccess();
            if ((named != null || records.size() == 1) && isUnreadable(failure)) {
                this.observer.failed(KafkaCoordinates.of((named != null) ? named : first), failure);
            }
            return false;
        }
        if (kind == FailureKind.CONTENTION && named == null && records.size() > 1 && !state.isSplit(records)) {
            // Once they are split, only the record that contends has to wait.
            return false;
        }
        // Another partition may have the first message with a key, which would always be polled behind this one.
        boolean alone = Outage.isWithoutKeys(failure);
        pause(first, alone, this.outage.recordFailure(kind, failure, KafkaCoordinates.of(first)));
        this.observer.retried(records.size());
        return true;
    }

    /** Whether the listener was not called, so that the failure has not been reported yet. */
    private static boolean isUnreadable(Exception failure) {
        Causes causes = Causes.of(failure);
        return causes.contains(DeserializationException.class)
                || causes.contains(ConversionException.class)
                || causes.contains(MessageConversionException.class);
    }

    /** Reports a record whose error handler is done with it, if retry topics have published it as a dead letter. */
    void reportDeadLetter(ConsumerRecord<?, ?> record, Exception failure) {
        DestinationTopicResolver resolver = this.retryTopics.get();
        String main = this.container.getMainListenerId();
        String listener = (main != null) ? main : this.container.getListenerId();
        try {
            if (resolver != null
                    && listener != null
                    && resolver.resolveDestinationTopic(
                                    listener,
                                    record.topic(),
                                    (int) numberIn(record, RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS, 1),
                                    failure,
                                    numberIn(
                                            record,
                                            RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP,
                                            record.timestamp()))
                            .isDltTopic()) {
                this.observer.deadLettered(KafkaCoordinates.of(record));
            }
        } catch (RuntimeException ex) {
            logger.trace("Listener {} has no retry topics", listener, ex);
        }
    }

    private static long numberIn(ConsumerRecord<?, ?> record, String header, long absent) {
        Header number = record.headers().lastHeader(header);
        return (number != null) ? new BigInteger(number.value()).longValue() : absent;
    }

    /** The consumer thread no longer waits, also because its container stops. */
    void recordSuccess() {
        if (this.container.isRunning()) {
            this.outage.recordSuccess();
        } else {
            this.outage.recordStop();
        }
    }

    /** Partitions of the consumer thread wait for their dead letter only while their record is redelivered. */
    void retainDeadLetters() {
        this.outage.retainDeadLetters(ConsumerThreadState.current()::isRetryExpected);
    }

    /** The consumer thread no longer waits if its record is not assigned to it any more. */
    void rebalance(Set<TopicPartition> assignment) {
        this.outage.stopWaitingUnless(assignment::contains);
        retainDeadLetters();
    }

    /** Has records redelivered at which an error handler has failed, whatever it did before it threw. */
    RuntimeException ensureRedelivery(
            Throwable thrown, CommonErrorHandler handler, List<ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Causes.rethrowIfFatal(thrown);
        if (thrown instanceof RuntimeException expected && Redelivery.isSoughtBack(records, consumer)) {
            return expected;
        }
        logger.error(
                "{} failed at {}: the record is not skipped, it is redelivered. Fix what it calls, such as a recoverer or a"
                        + " back-off function.",
                handler.getClass().getName(),
                KafkaCoordinates.of(records.get(0)),
                thrown);
        pause(records.get(0), false, this.outage.longestPause());
        Exception failure = (thrown instanceof Exception ex) ? ex : new KafkaException(thrown.toString(), thrown);
        return Redelivery.seekBack(failure, records, consumer);
    }

    /** Pauses the partition of a record that is retried for as long as its error handler has asked for. */
    void pauseIfRequested(ConsumerRecord<?, ?> record) {
        Duration requested = ConsumerThreadState.current().takeRequestedPause();
        if (requested != null) {
            pause(record, true, requested);
        }
    }

    private void pause(ConsumerRecord<?, ?> record, boolean alone, Duration duration) {
        try {
            this.pauses.pause(this.container, ConsumerThreadState.partitionOf(record), alone, duration);
        } catch (RuntimeException ex) {
            logger.error("A consumer could not be paused: it tries again at once", ex);
        }
    }
}
