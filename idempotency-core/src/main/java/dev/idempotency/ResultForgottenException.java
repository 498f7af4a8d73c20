package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** The work was committed before, but its result is not stored, or no longer: a controller answers with 410. */
@SuppressWarnings("serial")
public class ResultForgottenException extends ResultException {

    public ResultForgottenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
