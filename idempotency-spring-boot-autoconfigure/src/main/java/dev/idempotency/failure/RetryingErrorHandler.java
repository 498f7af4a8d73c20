package dev.idempotency.failure;

import dev.idempotency.UnusableKeyException;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
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

    private final RequestedPauses pauses;

    RetryingErrorHandler(ConsumerAwareRecordRecoverer recoverer, BackOffSettings retries, ConsumerPauses pauses) {
        this(recoverer, retries, new RequestedPauses(pauses));
    }

    private RetryingErrorHandler(
            ConsumerAwareRecordRecoverer recoverer, BackOffSettings retries, RequestedPauses pauses) {
        super(pauses.pausingIfItFails(recoverer, retries.maxInterval()), retries.toBackOff(), pauses);
        this.pauses = pauses;
        addNotRetryableExceptions(UnusableKeyException.class);
        setLogLevel(KafkaException.Level.DEBUG);
        // A message that fails in turns, now one way, now another, would be retried for ever.
        setResetStateOnExceptionChange(false);
        setResetStateOnRecoveryFailure(false);
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
            this.pauses.pauseAt(records.get(0), container);
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
            this.pauses.pauseAt(record, container);
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
            this.pauses.pauseAt(NamedFailure.recordOf(failure), container);
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
}
