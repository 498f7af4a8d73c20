package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** The work has been done, but its result is not kept, or no longer: a controller answers it with 410. */
@SuppressWarnings("serial")
public class ResultForgottenException extends ResultException {

    public ResultForgottenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
