package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message of the inbox was not replayed. */
public class ReplayException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final long sentBefore;

    public ReplayException(String message, @Nullable Throwable cause) {
        this(message, cause, 0);
    }

    public ReplayException(String message, @Nullable Throwable cause, long sentBefore) {
        super(message, cause);
        this.sentBefore = sentBefore;
    }

    /** How many messages were replayed before this one, where several were to be. */
    public long sentBefore() {
        return this.sentBefore;
    }
}
