package dev.idempotency.app;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A listener that has effects. */
public abstract class HasEffects {

    @Autowired
    protected Effects effects;

    /** Runs work before the commit, like a {@code @TransactionalEventListener} of that phase. */
    public static void beforeCommit(Runnable work) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void beforeCommit(boolean readOnly) {
                work.run();
            }
        });
    }
}
