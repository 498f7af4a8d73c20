package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A statement of the library's own failed: a privilege or a table is missing, or the database is away. The consumer waits. */
@SuppressWarnings("serial")
public class StoreFailedException extends IdempotencyException {

    public StoreFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
