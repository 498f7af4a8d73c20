package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message of the inbox was not replayed. */
@SuppressWarnings("serial")
public class ReplayException extends IdempotencyException {

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
