package dev.idempotency.operation;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Hears whether what was done in a transaction is undone before its end, with a savepoint that was made before it. */
abstract class UndoableSynchronization implements TransactionSynchronization {

    private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean undone;

    /** Asks all that are registered with the current transaction. */
    static void requireAllCommittable() {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
                if (each instanceof UndoableSynchronization undoable) {
                    undoable.requireCommittable();
                }
            }
        }
    }

    /** Fails if the transaction must not be committed for it. */
    abstract void requireCommittable();

    final boolean isUndone() {
        return this.undone;
    }

    @Override
    public final void savepoint(Object savepoint) {
        this.laterSavepoints.add(savepoint);
    }

    /** A savepoint that it has not heard of was made before. */
    @Override
    public final void savepointRollback(Object savepoint) {
        this.undone |= !this.laterSavepoints.contains(savepoint);
    }
}
