package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message of the inbox was not replayed. */
public class ReplayException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public ReplayException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
