package dev.idempotency.internal.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.internal.kafka.KafkaCoordinates;

/**
 * Finds the business keys that one consumer's messages lock.
 *
 * @param consumer the consumer
 * @param source the expression for the key
 */
public record LockKeyResolver(String consumer, ExpressionKeySource source) {

    /**
     * The key that a message locks, which it must have: without one it would run beside others, whatever becomes of messages
     * without an id.
     *
     * @throws InvalidMessageKeyException if it has none, or it cannot be found
     */
    public String resolve(MessageView message) {
        try {
            String key = this.source.keyOf(message);
            if (key != null && !MessageId.isNoKey(key)) {
                return key;
            }
        } catch (Throwable ex) {
            throw MessageIdResolver.unusable("lock", message, this.consumer, this.source, ex);
        }
        throw InvalidMessageKeyException.missing(
                ("The message %s has nothing to lock for consumer '%s': %s gave none, or a blank one. Let its producer set it,"
                                + " or write an expression in @IdempotentListener(lock = …) that is never empty.")
                        .formatted(KafkaCoordinates.of(message.record()), this.consumer, this.source));
    }
}
