package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message has no key or version, and the consumer has not processed any yet: it waits rather than dead-letter all of them. */
@SuppressWarnings("serial")
public class NoKeysYetException extends IdempotencyException {

    public NoKeysYetException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
