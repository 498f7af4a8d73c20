package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A step that must not be called twice was begun, and it is not known whether it happened. It is not called again, and the message
 * is not retried: an operator settles the step and has the message redriven. That the step was begun is committed.
 */
@SuppressWarnings("serial")
public class UnknownOutcomeException extends NonRetryableMessageException {

    public UnknownOutcomeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
