package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A message that another attempt does not help: it goes to the recoverer, usually a dead-letter topic, without a retry.
 *
 * @see InvalidMessageKeyException
 * @see MessageConflictException
 * @see UnknownOutcomeException
 */
@SuppressWarnings("serial")
public abstract class NonRetryableMessageException extends IdempotencyException {

    protected NonRetryableMessageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
