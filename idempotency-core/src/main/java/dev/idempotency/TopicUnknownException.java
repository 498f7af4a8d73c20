package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** The id of a message's topic is not known, on which a key made of its coordinates depends. The consumer waits. */
@SuppressWarnings("serial")
public class TopicUnknownException extends IdempotencyException {

    public TopicUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
