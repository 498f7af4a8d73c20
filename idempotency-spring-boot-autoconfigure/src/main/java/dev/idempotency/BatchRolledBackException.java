package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for a {@code BatchListenerFailedException} after the whole batch was rolled back: an error handler that knew
 * the failed record's index would commit the offsets of those before it, which are not done.
 */
public class BatchRolledBackException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public BatchRolledBackException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
