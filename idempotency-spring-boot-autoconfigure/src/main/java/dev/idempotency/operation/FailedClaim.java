package dev.idempotency.operation;

import dev.idempotency.TransactionLostException;

/**
 * A claim that has failed half-way: some of its ids may be in the transaction, though nobody was told that they are free. So
 * it keeps that transaction from being committed.
 */
final class FailedClaim extends UndoableSynchronization {

    private final RuntimeException failure;

    FailedClaim(RuntimeException failure) {
        this.failure = failure;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        requireCommittable();
    }

    @Override
    void requireCommittable() {
        if (!isUndone()) {
            throw new TransactionLostException(
                    "The transaction cannot be committed, as a claim has failed in it and the error was caught: ids would"
                            + " stay claimed for which no work was done. Nothing was committed. Let the error reach the"
                            + " caller, or claim in a transaction of its own: in a method of another bean with"
                            + " REQUIRES_NEW, or with NESTED where the transaction manager has savepoints.",
                    this.failure);
        }
    }
}
