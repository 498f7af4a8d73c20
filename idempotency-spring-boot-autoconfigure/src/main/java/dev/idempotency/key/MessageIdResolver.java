package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.RecordCoordinates;
import org.jspecify.annotations.Nullable;

/** Gives the messages of one consumer their identity. */
public final class MessageIdResolver {

    private final String consumer;
    private final KeySource source;
    private final OnMissingKey onMissing;

    public MessageIdResolver(String consumer, KeySource source, OnMissingKey onMissing) {
        this.consumer = consumer;
        this.source = source;
        this.onMissing = onMissing;
    }

    /**
     * The id under which a consumer's message with this key is stored.
     *
     * @throws InvalidMessageKeyException if no message can have this key
     */
    public static MessageId idOf(String consumer, String key) {
        return new MessageId(consumer, KeyText.stored(key));
    }

    /**
     * Identifies a message.
     *
     * @return its id, or {@code null} if it has no key and is to be processed all the same
     * @throws MissingMessageKeyException if it has no key
     * @throws InvalidMessageKeyException if it has one that cannot be used
     */
    public @Nullable MessageId resolve(MessageView message) {
        try {
            String key = this.source.keyOf(message);
            if (key != null && !key.isBlank()) {
                return idOf(this.consumer, key);
            }
        } catch (InvalidMessageKeyException ex) {
            throw new InvalidMessageKeyException(
                    "The key of the message %s for consumer '%s', from %s, cannot be used: %s."
                            .formatted(where(message), this.consumer, this.source, ex.getMessage()),
                    ex.getCause());
        }
        if (this.onMissing == OnMissingKey.PROCESS) {
            return null;
        }
        throw new MissingMessageKeyException(
                ("The message %s has no key for consumer '%s': %s gave none, or a blank one. Let its producer set one,"
                                + " name another source in @IdempotentListener(key = …), or set"
                                + " idempotency.key.on-missing=process to process such messages without deduplication.")
                        .formatted(where(message), this.consumer, this.source),
                null);
    }

    private static RecordCoordinates where(MessageView message) {
        return RecordCoordinates.of(message.record());
    }

    @Override
    public String toString() {
        return this.source.toString();
    }
}
