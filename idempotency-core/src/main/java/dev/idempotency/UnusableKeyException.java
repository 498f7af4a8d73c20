package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message cannot be identified, or not told apart from another. It is not retried, and goes straight to the recoverer. */
@SuppressWarnings("serial")
public abstract class UnusableKeyException extends IdempotencyException {

    protected UnusableKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
