package dev.idempotency.internal.definition;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.key.ExpressionKeySource;
import dev.idempotency.internal.key.MessageIdResolver;
import dev.idempotency.internal.key.MessageView;
import dev.idempotency.internal.lock.BusinessKeyLocks;

/** The lock of a consumer's listener: which keys its messages lock, and where. */
public record ListenerLock(String consumer, ExpressionKeySource keys, BusinessKeyLocks locks) {

    /**
     * The key that a message locks, which it must have: without one it would run beside others, whatever becomes of messages
     * without an id.
     *
     * @throws InvalidMessageKeyException if it has none, or it cannot be found
     */
    public String keyOf(MessageView message) {
        String key;
        try {
            key = this.keys.keyOf(message);
        } catch (Throwable ex) {
            throw MessageIdResolver.unusable("lock", message, this.consumer, this.keys, ex);
        }
        if (key == null || MessageId.isNoKey(key)) {
            throw InvalidMessageKeyException.missing(
                    ("The message %s has nothing to lock for consumer '%s': %s gave none, or a blank one. Let its producer set"
                                    + " it, or write an expression in @IdempotentListener(lock = …) that is never empty.")
                            .formatted(KafkaCoordinates.of(message.record()), this.consumer, this.keys));
        }
        return key;
    }
}
