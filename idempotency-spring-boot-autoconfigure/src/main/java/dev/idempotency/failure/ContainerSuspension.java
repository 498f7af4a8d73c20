package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Suspends the consumption of one container's records while they can only fail through no fault of theirs. It pauses the
 * consumer of what failed; that it gets the records again is up to whoever asked.
 */
final class ContainerSuspension {

    private static final Logger logger = LoggerFactory.getLogger(ContainerSuspension.class);

    /** The message that has come again last on a thread for nobody's fault, and how often in a row. */
    private record Unblamed(RecordCoordinates coordinates, int failures) {}

    private final Outage outage;
    private final ConsumerPauses pauses;
    private final ConsumerObserver observer;
    private final ThreadLocal<@Nullable Unblamed> unblamed = new ThreadLocal<>();

    ContainerSuspension(Outage outage, ConsumerPauses pauses, ConsumerObserver observer) {
        this.outage = outage;
        this.pauses = pauses;
        this.observer = observer;
    }

    ConsumerObserver observer() {
        return this.observer;
    }

    /**
     * Pauses the consumer if a record must come again through no fault of its own. Otherwise the failure is the error
     * handler's to handle.
     *
     * @param settled whether the record was processed all the same, and what failed is what comes afterwards
     * @return whether the record must come again
     */
    boolean trySuspend(
            Exception failure, ConsumerRecord<?, ?> record, boolean settled, MessageListenerContainer container) {
        return trySuspend(failure, record, record, 1, settled, container);
    }

    /** The same of a batch, which comes again as a whole. */
    boolean trySuspend(
            Exception failure, ConsumerRecords<?, ?> batch, boolean settled, MessageListenerContainer container) {
        ConsumerRecord<?, ?> failed = failedIn(batch, failure);
        return trySuspend(failure, failed, first(batch), batch.count(), settled, container);
    }

    private boolean trySuspend(
            Exception failure,
            ConsumerRecord<?, ?> failed,
            ConsumerRecord<?, ?> first,
            int messages,
            boolean settled,
            MessageListenerContainer container) {
        if (settled) {
            pauseAfterCommit(failure, first, container);
            return true;
        }
        FailureKind kind = judge(failure, failed);
        if (kind == FailureKind.MESSAGE) {
            return false;
        }
        suspend(kind, failure, first, messages, container);
        return true;
    }

    /** Pauses the consumer for a failure that is nobody's here, whatever its kind. */
    void suspend(Exception failure, ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        suspend(this.outage.classify(failure), failure, record, 1, container);
    }

    /** Pauses the consumer for a failure of this kind, by which it gets a batch again. */
    void suspend(FailureKind kind, Exception failure, ConsumerRecords<?, ?> batch, MessageListenerContainer container) {
        suspend(kind, failure, first(batch), batch.count(), container);
    }

    /** The kind of the failure of a batch that is being retried or taken apart because it has failed before. */
    FailureKind judgeRetry(Exception failure, ConsumerRecords<?, ?> batch) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named != null) {
            this.outage.suspects().inheritFailures(named, first(batch));
        }
        return judge(failure, failedIn(batch, failure));
    }

    private FailureKind judge(Exception failure, ConsumerRecord<?, ?> record) {
        FailureKind kind = this.outage.judge(failure, record);
        if (kind == FailureKind.MESSAGE) {
            // The database has answered.
            recordSuccess();
        }
        return kind;
    }

    /** The record of a batch that is named, or else its first. */
    private static ConsumerRecord<?, ?> failedIn(ConsumerRecords<?, ?> batch, Exception failure) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        return (named != null) ? named : first(batch);
    }

    /** The consumer thread no longer waits. */
    void recordSuccess() {
        this.outage.recordSuccess();
    }

    private void suspend(
            FailureKind kind,
            Exception failure,
            ConsumerRecord<?, ?> first,
            int messages,
            MessageListenerContainer container) {
        try {
            Duration pause = this.outage.recordFailure(kind, failure, RecordCoordinates.of(first));
            this.observer.retried(messages);
            Thread thread = Thread.currentThread();
            this.pauses.pause(container, Redelivery.partitionOf(first), pause, () -> this.outage.stopWaiting(thread));
        } catch (RuntimeException ex) {
            logger.error("A consumer could not be paused: it tries again at once", ex);
        }
    }

    /** Pauses the consumer, which gets a message again that has done nothing wrong. */
    private void pauseUnblamed(ConsumerRecord<?, ?> first, MessageListenerContainer container) {
        try {
            RecordCoordinates coordinates = RecordCoordinates.of(first);
            Unblamed last = this.unblamed.get();
            int failures = (last != null && last.coordinates().equals(coordinates)) ? last.failures() + 1 : 1;
            this.unblamed.set(new Unblamed(coordinates, failures));
            this.pauses.pause(container, Redelivery.partitionOf(first), this.outage.pauseAfter(failures), () -> {});
        } catch (RuntimeException ex) {
            logger.error("A consumer could not be paused: it tries again at once", ex);
        }
    }

    /** Pauses the consumer, which gets a message again whose transaction was committed: it will be a duplicate. */
    private void pauseAfterCommit(Exception failure, ConsumerRecord<?, ?> first, MessageListenerContainer container) {
        logger.warn(
                "{} has been processed, but what comes after its transaction failed, such as the commit of its offset."
                        + " It comes again, and will be dropped as a duplicate.",
                RecordCoordinates.of(first),
                failure);
        pauseUnblamed(first, container);
    }

    /** Makes what an error handler has failed at come again, whatever it did before it threw this. */
    RuntimeException ensureRedelivery(
            Throwable thrown,
            Object handler,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        FatalErrors.rethrow(thrown);
        if (thrown instanceof RuntimeException expected
                && (records.isEmpty() || Redelivery.isSoughtBack(records, consumer))) {
            return expected;
        }
        pauseAfterFailedHandler(thrown, handler, records.get(0), container);
        Exception failure = (thrown instanceof Exception ex) ? ex : new KafkaException(thrown.toString(), thrown);
        return Redelivery.seekBackIfNeeded(failure, records, consumer, container);
    }

    /** Pauses the consumer, which gets a record again that an error handler has failed at. */
    void pauseAfterFailedHandler(
            Throwable thrown, Object handler, ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        logger.error(
                "{} failed at {}: the record is not skipped, it comes again. Mend what it calls, such as a recoverer or a"
                        + " back-off function.",
                handler.getClass().getName(),
                RecordCoordinates.of(record),
                thrown);
        pauseUnblamed(record, container);
    }

    private static ConsumerRecord<?, ?> first(ConsumerRecords<?, ?> batch) {
        return batch.iterator().next();
    }
}
