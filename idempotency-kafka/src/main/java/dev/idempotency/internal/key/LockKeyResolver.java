package dev.idempotency.internal.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;

/** Finds the business keys that one consumer's messages lock. */
public record LockKeyResolver(String consumer, ExpressionKeySource source) {

    private static final String REMEDY = "Let its producer set one, or write an expression in"
            + " @IdempotentListener(lock = …) that is never empty.";

    /** The key that a message locks, or an {@link InvalidMessageKeyException}: without one it would run beside others. */
    public String resolve(MessageView message) {
        return MessageIdResolver.require("lock", message, this.consumer, this.source, REMEDY, () -> {
            String key = this.source.keyOf(message);
            return (key != null && !MessageId.isNoKey(key)) ? key : null;
        });
    }
}
