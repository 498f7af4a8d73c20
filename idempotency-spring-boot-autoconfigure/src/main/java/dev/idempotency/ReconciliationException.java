package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A reconciliation was not started. */
public class ReconciliationException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public ReconciliationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
