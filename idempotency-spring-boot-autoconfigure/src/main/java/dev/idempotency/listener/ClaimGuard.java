package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.store.ProcessedMessageStore;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Looks, as the last thing before a commit, whether the database still holds the claims: it may have undone them, all or
 * none, and will not say so when it is asked to commit.
 *
 * @param store where the claims were made
 * @param claimed one of the messages that were claimed
 */
record ClaimGuard(ProcessedMessageStore store, MessageId claimed) implements TransactionSynchronization {

    /** Has the current transaction looked at after all that is to be done before its commit. */
    static void stand(ProcessedMessageStore store, MessageId claimed) {
        ClaimGuard guard = new ClaimGuard(store, claimed);
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(guard);
        } else {
            guard.beforeCommit(false);
        }
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (!this.store.holds(this.claimed)) {
            throw new TransactionLostException(
                    ("The database has given up the transaction of message '%s' of consumer '%s': one of the listener's"
                                    + " statements failed, and the error was caught. Nothing was committed, and the"
                                    + " message comes again. Let the error reach the listener's caller, or keep the"
                                    + " statement in a transaction of its own (REQUIRES_NEW, or NESTED for a savepoint).")
                            .formatted(this.claimed.value(), this.claimed.consumer()));
        }
    }
}
