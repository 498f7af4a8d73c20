package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A consumer is not declared, so that its retention is unknown. Define a bean of type {@link IdempotentConsumer}. */
@SuppressWarnings("serial")
public class UnknownConsumerException extends IdempotencyException {

    public UnknownConsumerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
