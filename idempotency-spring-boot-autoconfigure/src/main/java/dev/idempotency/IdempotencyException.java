package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Root of what this library throws. Nothing has been recorded or applied when one is thrown. */
public abstract class IdempotencyException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    protected IdempotencyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
