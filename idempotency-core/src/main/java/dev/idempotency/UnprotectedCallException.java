package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A call that no claim would protect. A listener was called by something else than its container, outside its transaction,
 * or twice; or a claim from code has no transaction, a read-only one, or one of another {@code DataSource} than the store's.
 */
@SuppressWarnings("serial")
public class UnprotectedCallException extends IdempotencyException {

    public UnprotectedCallException(String message) {
        this(message, null);
    }

    public UnprotectedCallException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
