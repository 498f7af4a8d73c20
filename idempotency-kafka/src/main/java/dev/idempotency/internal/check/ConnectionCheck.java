package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.database.PoolSize;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.lock.BusinessKeyLocks;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;

/** Checks that a listener sees what others did before it got its lock, and that there are connections for all listeners. */
record ConnectionCheck(ListableBeanFactory beanFactory, Supplier<List<ProtectedListener>> listeners) {

    void check(ProtectedListener listener, Report report) {
        int isolation = listener.transactionAttribute().getIsolationLevel();
        if (listener.lockExpression() != null
                && this.beanFactory.getBean(BusinessKeyLocks.class).readsSnapshot(isolation)) {
            report.add(
                    StartupCheck.LOCK,
                    "It locks business keys, but its transactions are REPEATABLE READ or SERIALIZABLE: what they see may be older than the lock.",
                    "Use @Transactional(isolation = Isolation.READ_COMMITTED).");
        }
        int threads = ProtectedListener.threadsOf(this.listeners.get());
        this.beanFactory.getBeanProvider(PoolSize.class).ifAvailable(pool -> {
            if (pool.getAsInt() <= threads) {
                report.add(
                        StartupCheck.POOL_SIZE,
                        "Protected listeners have %d threads, each of which holds a connection while it runs one, and the pool has %d connections."
                                .formatted(threads, pool.getAsInt()),
                        "Set spring.datasource.hikari.maximum-pool-size to %d or more, or lower the concurrency of listeners."
                                .formatted(threads + 1));
            }
        });
    }
}
