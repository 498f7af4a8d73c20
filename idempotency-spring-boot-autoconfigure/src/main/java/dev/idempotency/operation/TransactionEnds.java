package dev.idempotency.operation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Hears of the ends of transactions.
 *
 * <p>What is called after a commit still finds its connection, and a transaction that seems to be open. Whatever is written
 * there is committed although it failed, or is lost although it did not, as the connection is given back. And what is called
 * right before a commit is too late to have others called there.
 */
final class TransactionEnds implements TransactionExecutionListener {

    private final DataSource dataSource;

    /** The connections of those that have ended: within what is called after one, others may begin and end. */
    private final ThreadLocal<@Nullable Set<Object>> ended = new ThreadLocal<>();

    TransactionEnds(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Hears of the transactions of a manager that tells of them: in a list of its own, as another may not be changed. */
    void hear(PlatformTransactionManager manager) {
        if (manager instanceof ConfigurableTransactionManager telling) {
            Set<TransactionExecutionListener> listeners =
                    new LinkedHashSet<>(telling.getTransactionExecutionListeners());
            listeners.add(this);
            telling.setTransactionExecutionListeners(new ArrayList<>(listeners));
        }
    }

    /** Whether the one has ended whose connection is bound to the thread. */
    boolean hasEnded() {
        Set<Object> connections = this.ended.get();
        return connections != null && connections.contains(connection());
    }

    private @Nullable Object connection() {
        return TransactionSynchronizationManager.getResource(this.dataSource);
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (transaction.isNewTransaction()) {
            UndoableSynchronization.requireAllCommittable();
            begin();
        }
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
        end(transaction);
    }

    @Override
    public void beforeRollback(TransactionExecution transaction) {
        if (transaction.isNewTransaction()) {
            begin();
        }
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
        end(transaction);
    }

    private void begin() {
        Object connection = connection();
        if (connection == null) {
            return;
        }
        Set<Object> connections = this.ended.get();
        if (connections == null) {
            connections = Collections.newSetFromMap(new IdentityHashMap<>(1));
            this.ended.set(connections);
        }
        connections.add(connection);
    }

    private void end(TransactionExecution transaction) {
        Set<Object> connections = this.ended.get();
        if (connections == null || !transaction.isNewTransaction()) {
            return;
        }
        connections.remove(connection());
        if (connections.isEmpty()) {
            this.ended.remove();
        }
    }
}
