package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.database.ManagedDataSource;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Whether the transaction manager binds the store's connections.
 *
 * <p>Most say which data source they manage. Of one that does not, a transaction is begun and rolled back, to see.
 */
final class TransactionManagerCheck implements ListenerCheck {

    private static final Logger logger = LoggerFactory.getLogger(TransactionManagerCheck.class);

    private static final String REMEDY = "Name one that manages the store's DataSource in"
            + " @IdempotentListener(transactionManager = …), and make that DataSource @Primary.";

    private final ListableBeanFactory beanFactory;
    private final Map<PlatformTransactionManager, Boolean> fits = new IdentityHashMap<>();

    TransactionManagerCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Report report) {
        PlatformTransactionManager manager = listener.transactionManager();
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (manager == null || !(store instanceof JdbcProcessedMessageStore jdbc)) {
            return;
        }
        if (!this.fits.computeIfAbsent(manager, key -> binds(key, jdbc.dataSource()))) {
            report.add(
                    Check.TRANSACTION_DATA_SOURCE,
                    "Its transaction manager (%s) does not manage the store's DataSource (%s)."
                            .formatted(manager.getClass().getSimpleName(), jdbc.dataSource()),
                    REMEDY);
        }
    }

    private static boolean binds(PlatformTransactionManager manager, DataSource storeDataSource) {
        if (manager instanceof KafkaAwareTransactionManager) {
            return false;
        }
        DataSource managed = ManagedDataSource.of(manager);
        return (managed != null)
                ? managed == storeDataSource
                : isSeenInTransaction(
                        manager,
                        () -> TransactionSynchronizationManager.getResource(storeDataSource)
                                instanceof ConnectionHolder);
    }

    /**
     * Whether something is seen in a transaction of a manager, which is begun to look at it and rolled back. If none can
     * be begun, it is taken for seen.
     */
    static boolean isSeenInTransaction(PlatformTransactionManager manager, BooleanSupplier something) {
        try {
            TransactionStatus status = manager.getTransaction(new DefaultTransactionDefinition());
            try {
                return something.getAsBoolean();
            } finally {
                manager.rollback(status);
            }
        } catch (TransactionException ex) {
            logger.debug("Could not begin a transaction to see what {} does", manager, ex);
            return true;
        }
    }
}
