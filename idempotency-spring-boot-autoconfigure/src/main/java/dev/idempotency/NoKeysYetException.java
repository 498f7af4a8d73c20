package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A message has no key in the headers that are looked at, or a version that is none, and the consumer has not processed any
 * message yet: rather than dead-letter all of them, it waits until the listener says where keys and versions are.
 */
public class NoKeysYetException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public NoKeysYetException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
