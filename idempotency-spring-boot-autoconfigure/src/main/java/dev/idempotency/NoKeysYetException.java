package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A message has no key or version that can be used, and the consumer has not processed any message yet: rather than
 * dead-letter all of them, it waits until the listener says where keys and versions are.
 */
@SuppressWarnings("serial")
public class NoKeysYetException extends IdempotencyException {

    public NoKeysYetException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
