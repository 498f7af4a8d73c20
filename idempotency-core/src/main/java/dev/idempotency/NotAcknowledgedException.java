package dev.idempotency;

/** A listener returned without {@code acknowledge()} or {@code nack()}, or sought back to its message. Nothing was committed. */
@SuppressWarnings("serial")
public class NotAcknowledgedException extends IdempotencyException {

    public NotAcknowledgedException(String message) {
        super(message, null);
    }
}
