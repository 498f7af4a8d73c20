package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A reconciliation was not started. */
@SuppressWarnings("serial")
public class ReconciliationException extends IdempotencyException {

    public ReconciliationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
