package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message could not be dead-lettered. It is not skipped: it comes again, and so does the attempt. */
public class DeadLetterFailedException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public DeadLetterFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
