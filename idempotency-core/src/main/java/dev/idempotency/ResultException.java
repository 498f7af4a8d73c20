package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A result cannot be kept, and the work was undone; or it cannot be given again, and the work is not done a second time. */
@SuppressWarnings("serial")
public class ResultException extends IdempotencyException {

    public ResultException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
