package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Another transaction held the claim of the same message for longer than {@code idempotency.claim.timeout}, the time of
 * the listener's transaction or a limit of the database's own allows: the message says which. Retryable:
 * once that transaction has ended, the message is either a duplicate or free.
 */
@SuppressWarnings("serial")
public class ClaimTimeoutException extends IdempotencyException {

    public ClaimTimeoutException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
