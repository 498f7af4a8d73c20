package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
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
     * Pauses the consumer if what failed must come again through no fault of its own. Otherwise the failure is the error
     * handler's to handle.
     *
     * @param records the record that failed, or a batch, which comes again as a whole
     * @return whether they must come again
     */
    boolean trySuspend(
            Exception failure, List<? extends ConsumerRecord<?, ?>> records, MessageListenerContainer container) {
        if (!DeliveryContext.takeSettled(records)) {
            return trySuspendUnsettled(failure, records, container);
        }
        logger.warn(
                "{} has been processed, but what comes after its transaction failed, such as the commit of its offset."
                        + " It comes again, and will be dropped as a duplicate.",
                RecordCoordinates.of(records.get(0)),
                failure);
        pauseUnblamed(records.get(0), container);
        return true;
    }

    /** The same of a batch that is being retried or taken apart because it has failed before. */
    boolean trySuspendRetry(
            Exception failure, List<? extends ConsumerRecord<?, ?>> batch, MessageListenerContainer container) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named != null) {
            this.outage.suspects().inheritFailures(named, batch.get(0));
        }
        return trySuspend(failure, batch, container);
    }

    /** The same of records that are known not to have been processed. */
    boolean trySuspendUnsettled(
            Exception failure, List<? extends ConsumerRecord<?, ?>> records, MessageListenerContainer container) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        FailureKind kind = this.outage.judge(failure, (named != null) ? named : records.get(0));
        if (kind == FailureKind.MESSAGE) {
            // The database has answered.
            recordSuccess();
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

    /** Makes what an error handler has failed at come again, whatever it did before it threw this. */
    RuntimeException ensureRedelivery(
            Throwable thrown,
            CommonErrorHandler handler,
            List<? extends ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        FatalErrors.rethrow(thrown);
        boolean soughtBack = Redelivery.isSoughtBack(records, consumer);
        if (soughtBack && thrown instanceof RuntimeException expected) {
            return expected;
        }
        pauseAfterFailedHandler(thrown, handler, records.get(0), container);
        Exception failure = (thrown instanceof Exception ex) ? ex : new KafkaException(thrown.toString(), thrown);
        return soughtBack ? Redelivery.comesAgain(failure) : Redelivery.seekBack(failure, records, consumer, container);
    }

    /** Pauses the consumer, which gets a record again that an error handler has failed at. */
    void pauseAfterFailedHandler(
            Throwable thrown,
            CommonErrorHandler handler,
            ConsumerRecord<?, ?> record,
            MessageListenerContainer container) {
        logger.error(
                "{} failed at {}: the record is not skipped, it comes again. Mend what it calls, such as a recoverer or a"
                        + " back-off function.",
                handler.getClass().getName(),
                RecordCoordinates.of(record),
                thrown);
        pauseUnblamed(record, container);
    }

    /** Pauses the consumer, which gets a message again that has done nothing wrong. */
    private void pauseUnblamed(ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        RecordCoordinates coordinates = RecordCoordinates.of(record);
        Unblamed last = this.unblamed.get();
        int failures = (last != null && last.coordinates().equals(coordinates)) ? last.failures() + 1 : 1;
        this.unblamed.set(new Unblamed(coordinates, failures));
        pause(record, container, () -> this.outage.pauseAfter(failures));
    }

    private void pause(ConsumerRecord<?, ?> record, MessageListenerContainer container, Supplier<Duration> duration) {
        try {
            this.pauses.pause(container, Redelivery.partitionOf(record), duration.get());
        } catch (RuntimeException ex) {
            logger.error("A consumer could not be paused: it tries again at once", ex);
        }
    }
}
