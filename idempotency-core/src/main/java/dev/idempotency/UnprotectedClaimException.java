package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A claim from code has no transaction to be part of, a read-only one, or one of another {@code DataSource} than the store's. */
@SuppressWarnings("serial")
public class UnprotectedClaimException extends IdempotencyException {

    public UnprotectedClaimException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
