package dev.idempotency.check;

import dev.idempotency.kafka.SpringKafkaInternals;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/** What an error handler does not tell by itself. */
final class ErrorHandlerFacts {

    private static final int MANY = 10_000;

    private final @Nullable CommonErrorHandler handler;

    ErrorHandlerFacts(@Nullable CommonErrorHandler handler) {
        this.handler = handler;
    }

    /** Whether it logs a message that failed too often, and goes on with the next one. */
    boolean dropsMessages() {
        if (this.handler instanceof CommonLoggingErrorHandler) {
            return true;
        }
        return this.handler instanceof FailedRecordProcessor processor
                && SpringKafkaInternals.hasNoRecoverer(processor)
                && retryTime() != null;
    }

    /** Whether it logs that a batch has failed, and does nothing else about it. */
    boolean ignoresBatches() {
        return this.handler != null
                && Stream.of("handleBatch", "handleBatchAndReturnRemaining")
                        .allMatch(name -> Arrays.stream(this.handler.getClass().getMethods())
                                .filter(method -> method.getName().equals(name))
                                .allMatch(method -> method.getDeclaringClass() == CommonErrorHandler.class));
    }

    /** How long retries of a message can go on, or {@code null} if there is no end to them or it is not known. */
    @Nullable
    Duration retryTime() {
        BackOff backOff = (this.handler instanceof FailedRecordProcessor processor)
                ? SpringKafkaInternals.backOffOf(processor)
                : null;
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
