package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A claim from code would not be part of the transaction of the work: there is none, it is read-only, or it is one of another
 * {@code DataSource} than the store's.
 */
@SuppressWarnings("serial")
public class UnprotectedClaimException extends IdempotencyException {

    public UnprotectedClaimException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
