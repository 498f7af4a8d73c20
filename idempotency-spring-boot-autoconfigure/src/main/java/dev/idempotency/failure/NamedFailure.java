package dev.idempotency.failure;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

/** A failure of a batch that tells which of its records failed, found as error handlers do: anywhere among the causes. */
public final class NamedFailure {

    private NamedFailure() {}

    /** What tells it, or {@code null}. */
    public static @Nullable BatchListenerFailedException in(@Nullable Throwable failure) {
        for (Throwable cause : Causes.of(failure)) {
            if (cause instanceof BatchListenerFailedException failed) {
                return failed;
            }
        }
        return null;
    }

    /** The record that failed, or {@code null} if it is not told. */
    static @Nullable ConsumerRecord<?, ?> recordOf(Throwable failure) {
        BatchListenerFailedException named = in(failure);
        return (named != null) ? named.getRecord() : null;
    }
}
