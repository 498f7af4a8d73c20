package dev.idempotency.internal.failure;

import dev.idempotency.NonRetryableMessageException;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.BackOffHandler;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * The error handler of containers for which the application has none: some attempts with growing pauses, in which the
 * partition is paused, then the recoverer. If that fails, the record is redelivered.
 */
final class RetryingErrorHandler extends DefaultErrorHandler {

    private static final Logger logger = LoggerFactory.getLogger(RetryingErrorHandler.class);

    private final WarningInterval warnings = new WarningInterval(System::nanoTime, Duration.ofSeconds(10));

    RetryingErrorHandler(
            String consumer, ConsumerAwareRecordRecoverer recoverer, Outage outage, BackOffSettings retries) {
        super(waitingIfItFails(recoverer, outage, retries.maxInterval()), retries.toBackOff(), new PauseRequest());
        addNotRetryableExceptions(NonRetryableMessageException.class);
        setRetryListeners((record, failure, attempt) -> warn(consumer, record, failure, attempt));
        setLogLevel(KafkaException.Level.DEBUG);
        // With MANUAL_IMMEDIATE the container does not commit the offset of a dead letter.
        setCommitRecovered(true);
        // A message that fails in turns, now one way, now another, would be retried forever.
        setResetStateOnExceptionChange(false);
        setResetStateOnRecoveryFailure(false);
    }

    private void warn(String consumer, ConsumerRecord<?, ?> record, Exception failure, int attempt) {
        if (this.warnings.isDue()) {
            logger.warn(
                    "Consumer '{}' failed at {}, attempt {}: {}",
                    consumer,
                    KafkaCoordinates.of(record),
                    attempt,
                    DeadLetterPublisher.describe(BatchFailure.withoutName(failure)));
        }
    }

    private static ConsumerAwareRecordRecoverer waitingIfItFails(
            ConsumerAwareRecordRecoverer recoverer, Outage outage, Duration pause) {
        return (record, consumer, exception) -> {
            try {
                recoverer.accept(record, consumer, exception);
            } catch (RuntimeException ex) {
                outage.recordDeadLetterFailure(ConsumerThreadState.partitionOf(record), ex);
                ConsumerThreadState.current().requestPause(pause);
                throw ex;
            }
        };
    }

    /** Has the partition paused when the failure has been handled. */
    private static final class PauseRequest implements BackOffHandler {

        @Override
        public void onNextBackOff(
                @Nullable MessageListenerContainer container, @Nullable Exception failure, long nextBackOff) {
            ConsumerThreadState.current().requestPause(Duration.ofMillis(nextBackOff));
        }
    }
}
