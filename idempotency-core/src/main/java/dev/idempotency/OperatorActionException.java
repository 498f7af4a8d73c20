package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A replay, a redrive or a reconciliation was not carried out, or not to its end. It is safe to try again: messages that were
 * sent are dropped as duplicates if they are sent twice.
 */
@SuppressWarnings("serial")
public class OperatorActionException extends IdempotencyException {

    private final long sentBefore;

    public OperatorActionException(String message, @Nullable Throwable cause) {
        this(message, cause, 0);
    }

    public OperatorActionException(String message, @Nullable Throwable cause, long sentBefore) {
        super(message, cause);
        this.sentBefore = sentBefore;
    }

    /** How many messages were replayed before the failure, where several were to be. */
    public long sentBefore() {
        return this.sentBefore;
    }
}
