package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.database.DataSourceTransactions;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.SQLException;
import java.util.IdentityHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Checks that the transaction manager binds the store's connections, and that these lead to one place. Most managers say which
 * data source they manage; with others a transaction is begun and rolled back, to see.
 */
final class TransactionManagerCheck implements ListenerCheck {

    private static final Logger logger = LoggerFactory.getLogger(TransactionManagerCheck.class);

    private final ListableBeanFactory beanFactory;
    private final Map<PlatformTransactionManager, Boolean> fits = new IdentityHashMap<>();

    TransactionManagerCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Report report) {
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (!(store instanceof JdbcProcessedMessageStore jdbc)) {
            return;
        }
        PlatformTransactionManager manager = listener.transactionManager();
        if (manager != null && !this.fits.computeIfAbsent(manager, key -> binds(key, jdbc.dataSource()))) {
            report.add(
                    Check.TRANSACTION_DATA_SOURCE,
                    "Its transaction manager (%s) does not manage the store's DataSource (%s)."
                            .formatted(manager.getClass().getSimpleName(), jdbc.dataSource()),
                    "Name one that manages the store's DataSource in @IdempotentListener(transactionManager = …), and make"
                            + " that DataSource @Primary.");
        }
        if (jdbc.database().schema() == null && isRouting(jdbc.dataSource())) {
            report.add(
                    Check.ROUTING_DATA_SOURCE,
                    "The store's DataSource is an AbstractRoutingDataSource.",
                    "Keep the tables in one schema that all its connections share, in one database, and name it in"
                            + " idempotency.schema.name; or let the store have a DataSource of its own, that is @Primary."
                            + " If all but one are read-only replicas, relax this check.");
        }
    }

    private static boolean isRouting(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
        } catch (SQLException | RuntimeException ex) {
            // A lazy one that cannot be connected today.
            return false;
        }
    }

    private static boolean binds(PlatformTransactionManager manager, DataSource storeDataSource) {
        if (manager instanceof KafkaAwareTransactionManager) {
            return false;
        }
        DataSource managed = DataSourceTransactions.dataSourceOf(manager);
        return (managed != null) ? managed == storeDataSource : isBoundInTransaction(manager, storeDataSource);
    }

    /** Begins a transaction, and rolls it back. If none can be begun, the data source is taken for bound. */
    private static boolean isBoundInTransaction(PlatformTransactionManager manager, DataSource dataSource) {
        try {
            TransactionStatus status = manager.getTransaction(new DefaultTransactionDefinition());
            try {
                return TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder;
            } finally {
                manager.rollback(status);
            }
        } catch (TransactionException ex) {
            logger.debug("Could not begin a transaction to see what {} does", manager, ex);
            return true;
        }
    }
}
