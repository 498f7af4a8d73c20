package dev.idempotency.definition;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;

/**
 * The failure by which code that a listener calls has marked the listener's transaction to be rolled back. If the listener
 * catches it, the commit says no more than that it could not be.
 */
final class RollbackCause implements AutoCloseable {

    private static final ThreadLocal<@Nullable RollbackCause> CURRENT = new ThreadLocal<>();

    private final TransactionStatus status;
    private @Nullable Throwable failure;

    private RollbackCause(TransactionStatus status) {
        this.status = status;
    }

    /** Begins to look for it, on this thread, until closed. */
    static RollbackCause watch(TransactionStatus status) {
        RollbackCause cause = new RollbackCause(status);
        CURRENT.set(cause);
        return cause;
    }

    /** Told of what a transactional method throws. The first that leaves the transaction marked has marked it. */
    static void thrown(Throwable failure) {
        RollbackCause current = CURRENT.get();
        if (current != null && current.failure == null && current.isMarked()) {
            current.failure = failure;
        }
    }

    /** Not every transaction can still be asked once it is over, as in what is called after its commit. */
    private boolean isMarked() {
        try {
            return this.status.isRollbackOnly();
        } catch (RuntimeException ex) {
            return false;
        }
    }

    /** The same exception with its cause, as far as that is known, and what to do. */
    UnexpectedRollbackException explain(UnexpectedRollbackException unexpected) {
        String by = (this.failure != null)
                ? "a @Transactional method that threw "
                        + this.failure.getClass().getName()
                : "code that it called";
        UnexpectedRollbackException explained = new UnexpectedRollbackException(
                ("The listener returned, but its transaction had been marked to be rolled back by %s, which the listener"
                                + " caught. Nothing was committed, and the message comes again. Let the exception reach"
                                + " the listener's caller, give the inner method a transaction of its own"
                                + " (propagation = REQUIRES_NEW), or name the exception in its noRollbackFor.")
                        .formatted(by),
                (this.failure != null) ? this.failure : unexpected);
        if (this.failure != null) {
            explained.addSuppressed(unexpected);
        }
        return explained;
    }

    @Override
    public void close() {
        CURRENT.set(null);
    }
}
