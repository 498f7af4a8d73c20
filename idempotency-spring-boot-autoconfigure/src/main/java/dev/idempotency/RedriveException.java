package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Dead letters could not be read, or were not sent back. */
public class RedriveException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public RedriveException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
