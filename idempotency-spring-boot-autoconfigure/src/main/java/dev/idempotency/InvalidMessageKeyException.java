package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message has a key that cannot be stored, or the expression for its key cannot be evaluated. */
public class InvalidMessageKeyException extends UnusableKeyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public InvalidMessageKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
