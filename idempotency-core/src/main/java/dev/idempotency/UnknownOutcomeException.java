package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A step that must not be called twice was announced before, and nobody knows whether it happened. It was not called, and the
 * message is not retried: an operator settles the step, and has the message redriven.
 */
@SuppressWarnings("serial")
public class UnknownOutcomeException extends IdempotencyException {

    public UnknownOutcomeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
