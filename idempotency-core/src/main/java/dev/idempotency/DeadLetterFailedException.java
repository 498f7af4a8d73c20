package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message could not be dead-lettered. It is not skipped, but redelivered until it can be. */
@SuppressWarnings("serial")
public class DeadLetterFailedException extends IdempotencyException {

    public DeadLetterFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
