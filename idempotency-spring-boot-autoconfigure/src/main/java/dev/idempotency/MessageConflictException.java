package dev.idempotency;

import java.io.Serial;

/**
 * A message has the id of another one that was processed before it, and another payload: it has not been applied, and
 * would be lost if it were dropped as a duplicate. Not retried, as nothing would change.
 */
public class MessageConflictException extends UnusableKeyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public MessageConflictException(String message) {
        super(message, null);
    }
}
