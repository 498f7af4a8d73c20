package dev.idempotency;

/** A message has the id of another one that was processed before it, and another payload. It was not applied, nor is retried. */
@SuppressWarnings("serial")
public class MessageConflictException extends NonRetryableMessageException {

    public MessageConflictException(String message) {
        super(message, null);
    }
}
