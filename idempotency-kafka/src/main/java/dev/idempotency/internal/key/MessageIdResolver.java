package dev.idempotency.internal.key;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.OnMissingKey;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.StringUtils;

/** Gives the messages of one consumer their identity. */
public record MessageIdResolver(String consumer, KeySource source, OnMissingKey onMissing) {

    /** Reasons may quote the message. */
    private static final int LONGEST_REASON = 500;

    private static final String REMEDY = "Let its producer set one, say where it is in @IdempotentListener(key = …) or"
            + " idempotency.key.headers, or set idempotency.key.on-missing=process (without deduplication) or skip.";

    /**
     * Identifies a message; {@code null} if it has no key and need not have one. Throws an {@link
     * InvalidMessageKeyException}, or a {@link ConsumerWaitingException} while the broker cannot be asked for its
     * topic.
     */
    public @Nullable MessageId resolve(MessageView message) {
        Supplier<@Nullable MessageId> id = () -> {
            String key = this.source.keyOf(message);
            return (key != null && !MessageId.isNoKey(key)) ? MessageId.of(this.consumer, key) : null;
        };
        return (this.onMissing == OnMissingKey.FAIL)
                ? require("key", message, this.consumer, this.source, REMEDY, id)
                : find("key", message, this.consumer, this.source, id);
    }

    /** Finds a key, version or lock, which the message must have. */
    public static <T> T require(
            String role,
            MessageView message,
            String consumer,
            KeySource source,
            String remedy,
            Supplier<@Nullable T> look) {
        T found = find(role, message, consumer, source, look);
        if (found == null) {
            throw InvalidMessageKeyException.missing(
                    "The message %s has no %s for consumer '%s': %s gave none, or a blank one. %s"
                            .formatted(KafkaCoordinates.of(message.record()), role, consumer, source, remedy));
        }
        return found;
    }

    private static <T> @Nullable T find(
            String role, MessageView message, String consumer, KeySource source, Supplier<@Nullable T> look) {
        try {
            return look.get();
        } catch (ConsumerWaitingException ex) {
            throw ex;
        } catch (Throwable ex) {
            Causes.rethrowIfFatal(NestedExceptionUtils.getMostSpecificCause(ex));
            boolean explained = ex instanceof InvalidMessageKeyException;
            String why = explained
                    ? StringUtils.uncapitalize(String.valueOf(ex.getMessage()))
                    : "it cannot be found, as that failed with " + ex;
            throw new InvalidMessageKeyException(
                    "The %s of the message %s for consumer '%s', from %s, cannot be used: %s."
                            .formatted(
                                    role,
                                    KafkaCoordinates.of(message.record()),
                                    consumer,
                                    source,
                                    StringUtils.truncate(why, LONGEST_REASON)),
                    explained ? ex.getCause() : ex);
        }
    }
}
