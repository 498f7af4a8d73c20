package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * It could not be found out which topic of its name a message is from, on which a key made of its coordinates depends.
 * It is never the message's fault. Its consumer waits, asks the broker again and says so.
 */
@SuppressWarnings("serial")
public class TopicUnknownException extends IdempotencyException {

    public TopicUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
