package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.util.StringUtils;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/** Whether a message that fails is kept. */
final class ErrorHandlingCheck implements ListenerCheck {

    private static final int MANY = 10_000;

    @Override
    public void check(ProtectedListener listener, Report report) {
        CommonErrorHandler handler = ErrorHandlerInstaller.handlerOf(listener.container());
        if (ContainerFacts.deliversBatches(listener.container()) && ContainerFacts.ignoresBatches(handler)) {
            report.add(
                    Check.BATCH_ERROR_HANDLER,
                    "Its container delivers batches, and its error handler does not implement handleBatch.",
                    "Use a DefaultErrorHandler, or implement handleBatch.");
        }
        if (dropsMessages(handler)) {
            report.add(
                    Check.DROPPED_FAILURES,
                    "Its container's error handler has no recoverer.",
                    "Write new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafkaTemplate), backOff), which"
                            + " sends it to a dead-letter topic.");
        }
        if (listener.kafkaListeners().anyMatch(annotation -> StringUtils.hasText(annotation.errorHandler()))) {
            report.add(
                    Check.LISTENER_ERROR_HANDLER,
                    "It has a KafkaListenerErrorHandler.",
                    "Remove @KafkaListener(errorHandler = …) and let the container's DefaultErrorHandler retry and"
                            + " recover; if it always throws, relax this check.");
        }
    }

    /** Whether it logs a message that failed too often, and goes on with the next one. */
    private static boolean dropsMessages(@Nullable Object handler) {
        return handler instanceof CommonLoggingErrorHandler
                || (handler instanceof FailedRecordProcessor processor
                        && SpringKafkaInternals.hasNoRecoverer(processor)
                        && retryTime(handler) != null);
    }

    /** How long retries of a message can go on, or {@code null} if there is no end to them or it is not known. */
    static @Nullable Duration retryTime(@Nullable Object handler) {
        BackOff backOff =
                (handler instanceof FailedRecordProcessor processor) ? SpringKafkaInternals.backOffOf(processor) : null;
        if (backOff == null) {
            return null;
        }
        BackOffExecution execution = backOff.start();
        long millis = 0;
        for (int i = 0; i < MANY; i++) {
            long next = execution.nextBackOff();
            if (next == BackOffExecution.STOP) {
                return Duration.ofMillis(millis);
            }
            millis += next;
        }
        return null;
    }
}
