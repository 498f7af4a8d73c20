package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A listener would run without its protection: called by something other than its container, outside its transaction, or
 * other than once in it.
 */
public class UnprotectedListenerException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public UnprotectedListenerException(String message) {
        this(message, null);
    }

    public UnprotectedListenerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
