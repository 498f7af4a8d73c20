package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message has a key that cannot be stored, or the expression for its key cannot be evaluated. */
@SuppressWarnings("serial")
public class InvalidMessageKeyException extends UnusableKeyException {

    public InvalidMessageKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
