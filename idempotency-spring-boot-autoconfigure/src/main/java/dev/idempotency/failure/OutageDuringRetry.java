package dev.idempotency.failure;

import java.io.Serial;

/** Leaves an error handler's loop of retries. It is no exception, as that loop catches those. */
final class OutageDuringRetry extends Error {

    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Exception failure;

    OutageDuringRetry(Exception failure) {
        super(null, failure, false, false);
        this.failure = failure;
    }

    Exception failure() {
        return this.failure;
    }
}
