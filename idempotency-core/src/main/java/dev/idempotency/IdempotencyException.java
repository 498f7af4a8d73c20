package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Root of the exceptions of this library. Unless a subclass says otherwise, nothing of the message, or of the work, has been
 * committed when one is thrown.
 */
@SuppressWarnings("serial")
public abstract class IdempotencyException extends RuntimeException {

    protected IdempotencyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
