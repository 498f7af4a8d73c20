package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.FatalErrors;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/** Makes what a listener, a filter or a converter throws something that error handlers are given. */
final class FailureConverter {

    private static final Logger logger = LoggerFactory.getLogger(FailureConverter.class);

    private FailureConverter() {}

    /**
     * Whatever was thrown as an exception that error handlers are given. A container would be stopped by an error, and for
     * good; and by a checked exception, which filters and converters may throw undeclared, be led past the record.
     */
    static RuntimeException toException(Throwable thrown, List<? extends ConsumerRecord<?, ?>> records) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error && FatalErrors.contains(error)) {
            logger.error(
                    "A listener met with {} at {}. That stops its container, and nothing more is consumed until it is"
                            + " started again: nothing can be relied upon after such an error. Restart the application.",
                    error.toString(),
                    records.isEmpty() ? "no record" : RecordCoordinates.of(records.get(0)));
            throw error;
        }
        return new ListenerExecutionFailedException("Listener threw an error: " + thrown, thrown);
    }
}
