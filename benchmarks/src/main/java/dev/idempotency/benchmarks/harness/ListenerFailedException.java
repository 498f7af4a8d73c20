package dev.idempotency.benchmarks.harness;

import java.io.Serial;
import org.springframework.core.NestedExceptionUtils;

/** Thrown if a listener has thrown an exception instead of processing its record. */
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
