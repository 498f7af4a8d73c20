package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A listener would run without its protection: called by something other than its container, outside its transaction, or
 * other than once in it.
 */
@SuppressWarnings("serial")
public class UnprotectedListenerException extends IdempotencyException {

    public UnprotectedListenerException(String message) {
        this(message, null);
    }

    public UnprotectedListenerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
