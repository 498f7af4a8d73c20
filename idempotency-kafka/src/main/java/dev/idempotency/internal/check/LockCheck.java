package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.lock.BusinessKeyLocks;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import java.sql.Connection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.TransactionDefinition;

/**
 * Checks that a listener sees what others did before it got its lock, and that those who wait leave connections to others.
 *
 * @param connections how many the pool has, or {@code null} if that is not known
 */
record LockCheck(
        ListableBeanFactory beanFactory,
        Supplier<List<ProtectedListener>> listeners,
        Supplier<@Nullable Integer> connections) {

    void check(ProtectedListener listener, Report report) {
        if (listener.lockExpression() == null) {
            return;
        }
        if (BusinessKeyLocks.readsSnapshot(isolationOf(listener))) {
            report.add(
                    StartupCheck.LOCK,
                    "It locks business keys, but its transactions are REPEATABLE READ or SERIALIZABLE: what they see may be older than the lock.",
                    "Use @Transactional(isolation = Isolation.READ_COMMITTED).");
        }
        int consumers = ProtectedListener.threadsOf(
                this.listeners.get().stream().filter(each -> each.lockExpression() != null));
        Integer pool = this.connections.get();
        if (pool != null && pool > 0 && consumers > pool) {
            report.add(
                    StartupCheck.LOCK_CONNECTIONS,
                    "With it, %d consumers lock business keys, but the pool has %d connections."
                            .formatted(consumers, pool),
                    "Raise spring.datasource.hikari.maximum-pool-size above %d, or lower the concurrency of these listeners."
                            .formatted(consumers));
        }
    }

    /** By default, that of the connections; but not where the first read after the lock decides what is seen. */
    private @Nullable Integer isolationOf(ProtectedListener listener) {
        int own = listener.transactionAttribute().getIsolationLevel();
        JdbcProcessedMessageStore store = this.beanFactory
                .getBeanProvider(JdbcProcessedMessageStore.class)
                .getIfUnique();
        if (own != TransactionDefinition.ISOLATION_DEFAULT || store == null) {
            return own;
        }
        IdempotencyDatabase database = store.database();
        ConnectionCallback<Integer> ask = Connection::getTransactionIsolation;
        return database.dialect().currentRead().isEmpty() ? database.inTransaction(jdbc -> jdbc.execute(ask)) : null;
    }
}
