package dev.idempotency;

import java.io.Serial;

/**
 * A listener with an inbox was called with a message several times, and none of these calls has ended: each time the
 * process did. It is not called with that message any more. Error handlers do not retry it, so it goes straight to the
 * recoverer, such as a dead-letter topic.
 */
public class ProcessKilledException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public ProcessKilledException(String message) {
        super(message, null);
    }
}
