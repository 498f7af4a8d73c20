package dev.idempotency.benchmarks.harness;

import java.io.Serial;
import org.springframework.core.NestedExceptionUtils;

/** A listener threw an exception where it should have handled its record. */
public final class ListenerFailedException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1L;

    ListenerFailedException(String listener, Exception cause) {
        super(
                "The listener " + listener + " failed: "
                        + NestedExceptionUtils.getMostSpecificCause(cause).getMessage(),
                cause);
    }
}
