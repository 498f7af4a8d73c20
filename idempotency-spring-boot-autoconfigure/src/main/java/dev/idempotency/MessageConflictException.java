package dev.idempotency;

/**
 * A message has the id of another one that was processed before it, and another payload: it has not been applied, and
 * would be lost if it were dropped as a duplicate. Not retried, as nothing would change.
 */
@SuppressWarnings("serial")
public class MessageConflictException extends UnusableKeyException {

    public MessageConflictException(String message) {
        super(message, null);
    }
}
