package dev.idempotency.check;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.BiConsumer;
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
        Object tracker = tracker();
        return tracker != null && hasNoRecoverer(tracker) && retryTime() != null;
    }

    /** Whether it logs that a batch has failed, and does nothing else about it. */
    boolean ignoresBatches() {
        return this.handler != null
                && Stream.of("handleBatch", "handleBatchAndReturnRemaining")
                        .allMatch(name -> Arrays.stream(this.handler.getClass().getMethods())
                                .filter(method -> method.getName().equals(name))
                                .allMatch(method -> method.getDeclaringClass() == CommonErrorHandler.class));
    }

    /**
     * The tracker puts a lambda of its own in the place of a missing recoverer, and another around one that is there: it
     * is told from the first by what it holds.
     */
    private static boolean hasNoRecoverer(Object tracker) {
        Object recoverer = ContainerFacts.field(tracker.getClass(), "recoverer", tracker);
        return recoverer != null
                && recoverer.getClass().getName().startsWith(tracker.getClass().getName() + "$$")
                && Arrays.stream(recoverer.getClass().getDeclaredFields())
                        .noneMatch(field -> BiConsumer.class.isAssignableFrom(field.getType()));
    }

    /** How long retries of a message can go on, or {@code null} if there is no end to them or it is not known. */
    @Nullable
    Duration retryTime() {
        Object tracker = tracker();
        if (tracker == null
                || !(ContainerFacts.field(tracker.getClass(), "backOff", tracker) instanceof BackOff backOff)) {
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

    private @Nullable Object tracker() {
        return (this.handler instanceof FailedRecordProcessor processor)
                ? ContainerFacts.field(FailedRecordProcessor.class, "failureTracker", processor)
                : null;
    }
}
