package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A statement of the library's own failed: a privilege or a table is missing, or the database is away. */
@SuppressWarnings("serial")
public class StoreFailedException extends ConsumerWaitingException {

    public StoreFailedException(String message, @Nullable Throwable cause) {
        super(Awaited.DATABASE, message, cause);
    }
}
