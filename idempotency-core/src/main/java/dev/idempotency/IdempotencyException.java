package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** Root of what this library throws. Nothing has been recorded or applied when one is thrown. */
@SuppressWarnings("serial")
public abstract class IdempotencyException extends RuntimeException {

    protected IdempotencyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
