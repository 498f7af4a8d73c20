package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.BusinessKeyLocks;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;

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
        List<ProtectedListener> all = this.listeners.get();
        int threads = all.stream()
                .map(ProtectedListener::container)
                .distinct()
                .mapToInt(each ->
                        (each instanceof ConcurrentMessageListenerContainer<?, ?> many) ? many.getConcurrency() : 1)
                .sum();
        int connections = this.beanFactory.getBeanProvider(Steps.class).stream()
                .mapToInt(Steps::poolSize)
                .findFirst()
                .orElse(Integer.MAX_VALUE);
        // One finding for all of them.
        String name = listener.consumer().listener();
        if (connections <= threads
                && all.stream().noneMatch(each -> each.consumer().listener().compareTo(name) < 0)) {
            report.add(
                    StartupCheck.POOL_SIZE,
                    "With it, protected listeners have %d threads, each of which holds a connection while it runs one, and the pool has %d connections."
                            .formatted(threads, connections),
                    "Set spring.datasource.hikari.maximum-pool-size to %d or more, or lower the concurrency of listeners."
                            .formatted(threads + 1));
        }
    }
}
