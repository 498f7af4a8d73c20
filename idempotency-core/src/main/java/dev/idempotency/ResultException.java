package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A result cannot be stored, and the work was rolled back; or, for a duplicate, the stored result cannot be read: the work was
 * committed before, and is not repeated.
 */
@SuppressWarnings("serial")
public class ResultException extends IdempotencyException {

    public ResultException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
