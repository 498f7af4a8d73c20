package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The work has been done, but its result is not kept, or no longer: a controller answers it with 410.
 */
public class ResultForgottenException extends ResultException {

    @Serial
    private static final long serialVersionUID = 1L;

    public ResultForgottenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
