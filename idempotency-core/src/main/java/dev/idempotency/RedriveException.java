package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** Dead letters could not be read, or were not sent back. */
@SuppressWarnings("serial")
public class RedriveException extends IdempotencyException {

    public RedriveException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
