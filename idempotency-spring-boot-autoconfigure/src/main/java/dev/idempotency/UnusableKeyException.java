package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A message cannot be identified, or not told apart from another, and every redelivery would end the same way. Error handlers
 * do not retry it, so it goes straight to the recoverer, such as a dead-letter topic.
 */
@SuppressWarnings("serial")
public abstract class UnusableKeyException extends IdempotencyException {

    protected UnusableKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
