package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message has no key, or a blank one. */
@SuppressWarnings("serial")
public class MissingMessageKeyException extends UnusableKeyException {

    public MissingMessageKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
