package dev.idempotency.failure;

import dev.idempotency.BatchRolledBackException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

/**
 * A failure of a batch that names the record that failed, found as error handlers do: anywhere among the causes.
 *
 * <p>Error handlers commit the offsets of all records before that one, so only whoever has processed those may name it.
 * What anybody else has named, such as a filter, an interceptor or a cause of the listener's failure, is hidden from them.
 */
public final class NamedFailure {

    private static final ThreadLocal<@Nullable BatchListenerFailedException> LAST = new ThreadLocal<>();

    private NamedFailure() {}

    /** For the error handler: all before this record is done, and this one is not. */
    public static BatchListenerFailedException at(
            ConsumerRecord<?, ?> record, @Nullable String message, @Nullable Throwable cause) {
        BatchListenerFailedException failure = new BatchListenerFailedException(String.valueOf(message), cause, record);
        LAST.set(failure);
        return failure;
    }

    /** Whether whoever named a record has processed those before it. */
    public static boolean isTrusted(Throwable failure) {
        BatchListenerFailedException named = in(failure);
        return named != null && named == LAST.get();
    }

    /** The failure as an error handler may see it: with causes that end, and no record named that must not be. */
    static Exception forErrorHandler(Exception thrown) {
        boolean trusted = isTrusted(thrown);
        Exception failure = Causes.makeFinite(thrown);
        BatchListenerFailedException named = in(failure);
        return (named == null || trusted) ? failure : wholeBatch(named);
    }

    /** For the error handler: nothing of the batch is done. The record that failed is not named, so all come again. */
    public static BatchRolledBackException wholeBatch(BatchListenerFailedException named) {
        Exception failure = Causes.makeFinite(named);
        Throwable cause = failure;
        for (Throwable each : Causes.of(failure)) {
            cause = (each instanceof BatchListenerFailedException) ? each.getCause() : cause;
        }
        BatchRolledBackException hidden = new BatchRolledBackException(
                "The whole batch comes again, as it failed at one record, and those before it are not done: "
                        + named.getMessage(),
                cause);
        hidden.addSuppressed(failure);
        return hidden;
    }

    /** The exception that names a record, or {@code null} if there is none. */
    public static @Nullable BatchListenerFailedException in(@Nullable Throwable failure) {
        return Causes.of(failure).find(BatchListenerFailedException.class);
    }

    /** The record that is named, or {@code null} if there is none. */
    static @Nullable ConsumerRecord<?, ?> recordOf(Throwable failure) {
        BatchListenerFailedException named = in(failure);
        return (named != null) ? named.getRecord() : null;
    }
}
