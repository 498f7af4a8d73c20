package dev.idempotency.failure;

import dev.idempotency.ProcessKilledException;
import dev.idempotency.UnusableKeyException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.BackOffHandler;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * The error handler of containers for which the application has none: some attempts with growing pauses, then the
 * recoverer. Where that fails, the record is not skipped.
 *
 * <p>It pauses the consumer instead of blocking its thread, and takes batches apart to find the message that fails.
 */
final class RetryingErrorHandler extends DefaultErrorHandler {

    private final ConsumerPauses pauses;

    /** The pause that handling a failure on this thread has asked for, where Spring Kafka would sleep. */
    private final ThreadLocal<@Nullable Duration> requested;

    RetryingErrorHandler(ConsumerAwareRecordRecoverer recoverer, BackOffSettings retries, ConsumerPauses pauses) {
        this(recoverer, retries, pauses, new ThreadLocal<>());
    }

    @SuppressWarnings("this-escape") // The setters are Spring Kafka's and know nothing of this class.
    private RetryingErrorHandler(
            ConsumerAwareRecordRecoverer recoverer,
            BackOffSettings retries,
            ConsumerPauses pauses,
            ThreadLocal<@Nullable Duration> requested) {
        super(
                pausingIfItFails(recoverer, requested, retries.maxInterval()),
                retries.toBackOff(),
                requestingPauses(requested));
        this.pauses = pauses;
        this.requested = requested;
        addNotRetryableExceptions(UnusableKeyException.class, ProcessKilledException.class);
        setLogLevel(KafkaException.Level.DEBUG);
        // A message that fails in turns, now one way, now another, would be retried for ever.
        setResetStateOnExceptionChange(false);
        setResetStateOnRecoveryFailure(false);
    }

    private static ConsumerAwareRecordRecoverer pausingIfItFails(
            ConsumerAwareRecordRecoverer recoverer, ThreadLocal<@Nullable Duration> requested, Duration duration) {
        return (record, consumer, exception) -> {
            try {
                recoverer.accept(record, consumer, exception);
            } catch (RuntimeException ex) {
                requested.set(duration);
                throw ex;
            }
        };
    }

    private static BackOffHandler requestingPauses(ThreadLocal<@Nullable Duration> requested) {
        return new BackOffHandler() {

            @Override
            public void onNextBackOff(
                    @Nullable MessageListenerContainer container, @Nullable Exception exception, long nextBackOff) {
                requested.set(Duration.ofMillis(nextBackOff));
            }
        };
    }

    @Override
    public void handleRemaining(
            Exception thrown,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        try {
            super.handleRemaining(thrown, records, consumer, container);
        } finally {
            pauseAt(records.get(0), container);
        }
    }

    @Override
    public boolean handleOne(
            Exception thrown,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        try {
            return super.handleOne(thrown, record, consumer, container);
        } finally {
            pauseAt(record, container);
        }
    }

    @Override
    public void handleBatch(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        Exception failure = failureOfOne(thrown, data, invokeListener);
        if (failure == null) {
            return;
        }
        try {
            super.handleBatch(failure, data, consumer, container, invokeListener);
        } finally {
            pauseAt(NamedFailure.recordOf(failure), container);
        }
    }

    /**
     * The failure with its message named, after the batch was taken apart if need be; null if all have succeeded. What
     * fails before any message is looked at, such as an interceptor of the batch, is put down to the first of them: so
     * one at a time is given up, and a dead letter that cannot be published is not published again with all before it.
     */
    private static @Nullable Exception failureOfOne(
            Exception thrown, ConsumerRecords<?, ?> data, Runnable invokeListener) {
        if (NamedFailure.recordOf(thrown) != null) {
            return thrown;
        }
        try {
            DeliveryContext.requestSeparation(invokeListener);
            return null;
        } catch (RuntimeException ex) {
            return (NamedFailure.recordOf(ex) != null)
                    ? ex
                    : new BatchListenerFailedException(
                            String.valueOf(ex.getMessage()), ex, data.iterator().next());
        }
    }

    private void pauseAt(@Nullable ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        Duration duration = this.requested.get();
        this.requested.remove();
        if (duration != null && record != null) {
            this.pauses.pause(container, Redelivery.partitionOf(record), duration);
        }
    }
}
