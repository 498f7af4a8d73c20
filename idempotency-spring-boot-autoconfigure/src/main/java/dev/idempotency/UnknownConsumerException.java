package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * An id belongs to a consumer that the application has not declared: nobody would know for how long it is to be
 * remembered. Declare it with a bean of type {@link IdempotentConsumer}.
 */
@SuppressWarnings("serial")
public class UnknownConsumerException extends IdempotencyException {

    public UnknownConsumerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
