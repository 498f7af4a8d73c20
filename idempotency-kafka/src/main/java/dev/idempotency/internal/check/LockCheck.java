package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.database.PoolSize;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.lock.BusinessKeyLocks;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.TransactionDefinition;

/** Checks that a listener sees what others did before it got its lock, and that those who wait leave connections to others. */
record LockCheck(ListableBeanFactory beanFactory, Supplier<List<ProtectedListener>> listeners) {

    void check(ProtectedListener listener, Report report) {
        if (listener.lockExpression() == null) {
            return;
        }
        int own = listener.transactionAttribute().getIsolationLevel();
        boolean snapshot = (own != TransactionDefinition.ISOLATION_DEFAULT)
                ? BusinessKeyLocks.readsSnapshot(own)
                : this.beanFactory.getBean(BusinessKeyLocks.class).readsSnapshotByDefault();
        if (snapshot) {
            report.add(
                    StartupCheck.LOCK,
                    "It locks business keys, but its transactions are REPEATABLE READ or SERIALIZABLE: what they see may be older than the lock.",
                    "Use @Transactional(isolation = Isolation.READ_COMMITTED).");
        }
        int consumers = ProtectedListener.threadsOf(
                this.listeners.get().stream().filter(each -> each.lockExpression() != null));
        Integer connections = this.beanFactory.getBean(PoolSize.class).get();
        if (connections != null && connections > 0 && consumers > connections) {
            report.add(
                    StartupCheck.LOCK_CONNECTIONS,
                    "With it, %d consumers lock business keys, but the pool has %d connections."
                            .formatted(consumers, connections),
                    "Raise spring.datasource.hikari.maximum-pool-size above %d, or lower the concurrency of these listeners."
                            .formatted(consumers));
        }
    }
}
