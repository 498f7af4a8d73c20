package dev.idempotency;

/**
 * A listener returned without saying that its message is done: with manual acknowledgment it called neither {@code
 * acknowledge()} nor {@code nack()}, or it sought back to the message. Nothing was committed.
 */
@SuppressWarnings("serial")
public class NotAcknowledgedException extends IdempotencyException {

    public NotAcknowledgedException(String message) {
        super(message, null);
    }
}
