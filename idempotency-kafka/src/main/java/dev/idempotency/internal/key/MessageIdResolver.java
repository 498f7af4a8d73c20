package dev.idempotency.internal.key;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.OnMissingKey;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.StringUtils;

/** Gives the messages of one consumer their identity. */
public record MessageIdResolver(String consumer, KeySource source, OnMissingKey onMissing) {

    /** Reasons may quote the message. */
    private static final int LONGEST_REASON = 500;

    /**
     * Identifies a message; {@code null} if it has no key and need not have one. Throws an {@link
     * InvalidMessageKeyException}, or a {@link ConsumerWaitingException} while the broker cannot be asked for its
     * topic.
     */
    public @Nullable MessageId resolve(MessageView message) {
        try {
            String key = this.source.keyOf(message);
            if (key != null && !MessageId.isNoKey(key)) {
                return MessageId.of(this.consumer, key);
            }
        } catch (Throwable ex) {
            throw unusable("key", message, this.consumer, this.source, ex);
        }
        if (this.onMissing != OnMissingKey.FAIL) {
            return null;
        }
        throw InvalidMessageKeyException.missing(
                ("The message %s has no key for consumer '%s': %s gave none, or a blank one. Let its producer set one,"
                                + " say where it is in @IdempotentListener(key = …) or idempotency.key.headers, or set"
                                + " idempotency.key.on-missing=process (without deduplication) or skip.")
                        .formatted(KafkaCoordinates.of(message.record()), this.consumer, this.source));
    }

    /**
     * Returns the exception for a key or version that could not be found; throws a {@link ConsumerWaitingException}.
     */
    public static InvalidMessageKeyException unusable(
            String role, MessageView message, String consumer, KeySource source, Throwable failure) {
        if (failure instanceof ConsumerWaitingException unknown) {
            throw unknown;
        }
        requireSurvivable(failure);
        boolean explained = failure instanceof InvalidMessageKeyException;
        String why = explained
                ? StringUtils.uncapitalize(String.valueOf(failure.getMessage()))
                : "it cannot be found, as that failed with " + failure;
        return new InvalidMessageKeyException(
                "The %s of the message %s for consumer '%s', from %s, cannot be used: %s."
                        .formatted(
                                role,
                                KafkaCoordinates.of(message.record()),
                                consumer,
                                source,
                                StringUtils.truncate(why, LONGEST_REASON)),
                explained ? failure.getCause() : failure);
    }

    /** An error of the machine itself is not the message's, but for the stack that it overflowed. */
    private static void requireSurvivable(Throwable thrown) {
        if (NestedExceptionUtils.getMostSpecificCause(thrown) instanceof VirtualMachineError error
                && !(error instanceof StackOverflowError)) {
            throw error;
        }
    }
}
