package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A listener was called without its protection: by something else than its container, outside its transaction, or twice. */
@SuppressWarnings("serial")
public class UnprotectedListenerException extends IdempotencyException {

    public UnprotectedListenerException(String message) {
        this(message, null);
    }

    public UnprotectedListenerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
