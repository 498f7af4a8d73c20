package dev.idempotency.internal.failure;

import dev.idempotency.internal.database.Causes;
import java.io.Serial;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/**
 * Names the record at which a batch or poll failed. Error handlers commit the offsets of all records before that one, so
 * what a listener or an interceptor names is not trusted: the batch is split instead.
 */
public final class BatchFailure {

    private static final class Trusted extends BatchListenerFailedException {

        @Serial
        private static final long serialVersionUID = 1L;

        Trusted(Throwable cause, ConsumerRecord<?, ?> record) {
            super(String.valueOf(cause.getMessage()), cause, record);
        }
    }

    private BatchFailure() {}

    /** Tells the error handler that this record failed, and all before it in its partition are committed. */
    public static RuntimeException at(ConsumerRecord<?, ?> record, Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null
                && (cause instanceof ListenerExecutionFailedException
                        || cause instanceof BatchListenerFailedException)) {
            cause = cause.getCause();
        }
        return new Trusted(cause, record);
    }

    /** The record that was named by {@link #at}, or {@code null}. */
    static @Nullable ConsumerRecord<?, ?> recordOf(Throwable failure) {
        Trusted named = Causes.of(failure).find(Trusted.class);
        return (named != null) ? named.getRecord() : null;
    }

    /** The failure as a record listener's would be, around the exception that the listener threw. */
    static Exception withoutName(Exception failure) {
        if (!(failure instanceof ListenerExecutionFailedException listener)
                || !(failure.getCause() instanceof Trusted named)
                || named.getCause() == null) {
            return failure;
        }
        Exception unnamed = new ListenerExecutionFailedException(
                String.valueOf(named.getCause().getMessage()), listener.getGroupId(), named.getCause());
        unnamed.setStackTrace(failure.getStackTrace());
        return unnamed;
    }
}
