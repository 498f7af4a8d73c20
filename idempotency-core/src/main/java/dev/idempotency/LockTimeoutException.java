package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** Another transaction held the lock of a business key for longer than {@code idempotency.lock.timeout}. Retryable. */
@SuppressWarnings("serial")
public class LockTimeoutException extends IdempotencyException {

    public LockTimeoutException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
