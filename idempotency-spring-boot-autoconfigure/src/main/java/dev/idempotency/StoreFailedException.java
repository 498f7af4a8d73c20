package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A statement of the library's own failed, and not for what the message holds: a privilege or a table is missing, or the
 * database is away. It is never the message's fault. Its consumer waits, tries again and says so.
 */
@SuppressWarnings("serial")
public class StoreFailedException extends IdempotencyException {

    public StoreFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
