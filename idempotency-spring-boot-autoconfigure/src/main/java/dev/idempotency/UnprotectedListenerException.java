package dev.idempotency;

import java.io.Serial;

/** A listener would run without its protection: called by something other than its container, or outside its transaction. */
public class UnprotectedListenerException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public UnprotectedListenerException(String message) {
        super(message, null);
    }
}
