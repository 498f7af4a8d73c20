package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A statement of the library's own failed, and not for what the message holds: a privilege or a table is missing, or the
 * database is away. It is never the message's fault. Its consumer waits, tries again and says so.
 */
public class StoreFailedException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public StoreFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
