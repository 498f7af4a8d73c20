package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message has no key, or a blank one. */
public class MissingMessageKeyException extends UnusableKeyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public MissingMessageKeyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
