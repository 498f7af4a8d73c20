package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Another transaction held the claim of the same message for too long, as by {@code idempotency.claim.timeout}. Retryable:
 * once that transaction has ended, the message is either a duplicate or free.
 */
@SuppressWarnings("serial")
public class ClaimTimeoutException extends IdempotencyException {

    public ClaimTimeoutException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
