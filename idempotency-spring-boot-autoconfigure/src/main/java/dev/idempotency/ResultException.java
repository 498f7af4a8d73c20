package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A result cannot be kept, so that the work was undone; or it cannot be given again, and the work, which has been done, is
 * not done a second time. The message says which.
 */
@SuppressWarnings("serial")
public class ResultException extends IdempotencyException {

    public ResultException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
