package dev.idempotency.definition;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Counts, for each thread, the transactions that were rolled back or could not be committed, as far as transaction managers
 * tell of them. A failure that leaves a listener may have been that of such a one within its own, which most databases
 * do not say.
 */
final class FailedTransactions implements TransactionExecutionListener {

    private static final FailedTransactions LISTENER = new FailedTransactions();

    private final ThreadLocal<Integer> count = ThreadLocal.withInitial(() -> 0);

    private FailedTransactions() {}

    /** Begins to count those of a transaction manager. */
    static void countIn(PlatformTransactionManager manager) {
        if (manager instanceof ConfigurableTransactionManager configurable
                && !configurable.getTransactionExecutionListeners().contains(LISTENER)) {
            // Whoever has set them may have given a collection that takes no more.
            List<TransactionExecutionListener> all = new ArrayList<>(configurable.getTransactionExecutionListeners());
            all.add(LISTENER);
            configurable.setTransactionExecutionListeners(all);
        }
    }

    /** Says, when it is asked, whether one has failed on this thread since now. */
    static BooleanSupplier watch() {
        int before = LISTENER.count.get();
        return () -> LISTENER.count.get() != before;
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
        count(transaction);
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
        if (commitFailure != null) {
            count(transaction);
        }
    }

    /** What returns to a savepoint is part of another. */
    private void count(TransactionExecution transaction) {
        if (transaction.isNewTransaction()) {
            this.count.set(this.count.get() + 1);
        }
    }
}
