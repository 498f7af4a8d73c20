package dev.idempotency;

import java.io.Serial;

/**
 * A listener returned without saying that its message is done: with manual acknowledgment it called neither {@code
 * acknowledge()} nor {@code nack()}, or it sought back to the message. Nothing was committed.
 */
public class NotAcknowledgedException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public NotAcknowledgedException(String message) {
        super(message, null);
    }
}
