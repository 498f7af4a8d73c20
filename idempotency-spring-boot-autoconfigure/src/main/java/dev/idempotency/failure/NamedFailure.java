package dev.idempotency.failure;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

/** A failure of a batch that tells which of its records failed. */
final class NamedFailure {

    private NamedFailure() {}

    /** The record that failed, or {@code null} if it is not told. */
    static @Nullable ConsumerRecord<?, ?> recordOf(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BatchListenerFailedException failed) {
                return failed.getRecord();
            }
        }
        return null;
    }
}
