package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Suspends the consumption of one container's records while they can only fail through no fault of theirs. It pauses the
 * consumer of what failed; that it gets the records again is up to whoever asked.
 */
final class ContainerSuspension {

    private static final Logger logger = LoggerFactory.getLogger(ContainerSuspension.class);

    private final Outage outage;
    private final ConsumerPauses pauses;
    private final ConsumerObserver observer;

    ContainerSuspension(Outage outage, ConsumerPauses pauses, ConsumerObserver observer) {
        this.outage = outage;
        this.pauses = pauses;
        this.observer = observer;
    }

    ConsumerObserver observer() {
        return this.observer;
    }

    /**
     * Pauses the consumer if the failure is not the message's own, so that the same records must be redelivered. Otherwise
     * the failure is the error handler's to handle.
     *
     * @param records the record that failed, or a batch
     * @return whether they must be redelivered
     */
    boolean trySuspend(
            Exception failure, List<? extends ConsumerRecord<?, ?>> records, MessageListenerContainer container) {
        if (!ConsumerThreadState.current().takeCommitted(records)) {
            return trySuspendUncommitted(failure, records, container);
        }
        logger.warn(
                "{} has been processed, but what follows its transaction failed, such as the commit of its offset. It is"
                        + " redelivered, and dropped as a duplicate.",
                RecordCoordinates.of(records.get(0)),
                failure);
        pauseForRedelivery(records.get(0), container);
        return true;
    }

    /** Does the same for records that are known not to be committed. */
    boolean trySuspendUncommitted(
            Exception failure, List<? extends ConsumerRecord<?, ?>> records, MessageListenerContainer container) {
        ConsumerRecord<?, ?> named = BatchFailure.recordOf(failure);
        FailureKind kind = this.outage.judge(failure, (named != null) ? named : records.get(0));
        if (kind == FailureKind.MESSAGE) {
            // The database has answered.
            recordSuccess();
            return false;
        }
        if (kind == FailureKind.CONTENTION
                && named == null
                && records.size() > 1
                && !ConsumerThreadState.current().isSplit(records)) {
            // Once they are split, only the record that contends has to wait.
            return false;
        }
        suspend(kind, failure, records, container);
        return true;
    }

    /** Pauses the consumer for a failure that is nobody's here, whatever its kind. */
    void suspend(Exception failure, ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        suspend(this.outage.classify(failure), failure, List.of(record), container);
    }

    private void suspend(
            FailureKind kind,
            Exception failure,
            List<? extends ConsumerRecord<?, ?>> records,
            MessageListenerContainer container) {
        ConsumerRecord<?, ?> first = records.get(0);
        pause(first, container, () -> {
            Duration pause = this.outage.recordFailure(kind, failure, RecordCoordinates.of(first));
            this.observer.retried(records.size());
            return pause;
        });
    }

    /** The consumer thread no longer waits. */
    void recordSuccess() {
        this.outage.recordSuccess();
    }

    /** The consumer thread no longer waits if its record is not assigned to it any more. */
    void rebalance(Set<TopicPartition> assignment) {
        this.outage.stopWaitingUnless(assignment::contains);
    }

    /** Makes what an error handler has failed at come again, whatever it did before it threw this. */
    RuntimeException ensureRedelivery(
            Throwable thrown,
            CommonErrorHandler handler,
            List<? extends ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        FatalErrors.rethrow(thrown);
        if (thrown instanceof RuntimeException expected && Redelivery.isSoughtBack(records, consumer)) {
            return expected;
        }
        logger.error(
                "{} failed at {}: the record is not skipped, it is redelivered. Fix what it calls, such as a recoverer or a"
                        + " back-off function.",
                handler.getClass().getName(),
                RecordCoordinates.of(records.get(0)),
                thrown);
        pauseForRedelivery(records.get(0), container);
        Exception failure = (thrown instanceof Exception ex) ? ex : new KafkaException(thrown.toString(), thrown);
        return Redelivery.seekBack(failure, records, consumer);
    }

    /** Pauses the consumer, longer each time, before a record is redelivered that did not fail by itself. */
    private void pauseForRedelivery(ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        int failures = ConsumerThreadState.current().countRedelivery(RecordCoordinates.of(record));
        pause(record, container, () -> this.outage.pauseAfter(failures));
    }

    private void pause(ConsumerRecord<?, ?> record, MessageListenerContainer container, Supplier<Duration> duration) {
        try {
            this.pauses.pauseAll(container, ConsumerThreadState.partitionOf(record), duration.get());
        } catch (RuntimeException ex) {
            logger.error("A consumer could not be paused: it tries again at once", ex);
        }
    }
}
