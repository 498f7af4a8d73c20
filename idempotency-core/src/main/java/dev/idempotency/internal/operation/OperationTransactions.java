package dev.idempotency.internal.operation;

import dev.idempotency.MessageId;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.database.DataSourceTransactions;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.ClaimedTransaction;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/** Transactions for claims from code, by the transaction manager of the store's {@code DataSource}. */
final class OperationTransactions {

    private static final String REMEDY =
            " Define a JdbcTransactionManager or JpaTransactionManager for the store's DataSource, or make it @Primary.";

    private final ProcessedMessageStore store;
    private final @Nullable IdempotencyDatabase database;
    private final SingletonSupplier<PlatformTransactionManager> manager;

    OperationTransactions(ListableBeanFactory beanFactory, ProcessedMessageStore store) {
        this.store = store;
        this.database = (store instanceof JdbcProcessedMessageStore jdbc) ? jdbc.database() : null;
        this.manager = SingletonSupplier.of(() -> findManager(beanFactory));
    }

    private PlatformTransactionManager findManager(ListableBeanFactory beanFactory) {
        Map<String, PlatformTransactionManager> beans = new TreeMap<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(beanFactory, PlatformTransactionManager.class));
        beans.values().removeIf(OperationTransactions::isOfKafka);
        List<PlatformTransactionManager> fitting = beans.values().stream()
                .filter(bean -> this.database != null
                        && DataSourceTransactions.dataSourceOf(bean) == this.database.dataSource())
                .toList();
        if (fitting.size() == 1) {
            return fitting.get(0);
        }
        PlatformTransactionManager primary =
                beanFactory.getBeanProvider(PlatformTransactionManager.class).getIfUnique();
        if (beans.size() == 1 || (primary != null && beans.containsValue(primary))) {
            return (beans.size() == 1) ? beans.values().iterator().next() : primary;
        }
        throw new UnprotectedCallException(
                (beans.isEmpty()
                                ? "IdempotentOperations needs a transaction manager for the store's DataSource, but there is none."
                                : "IdempotentOperations needs one transaction manager, but there are several and none is"
                                        + " primary: " + beans.keySet() + ".")
                        + REMEDY,
                null);
    }

    /** By name: Spring Kafka need not be on the class path. */
    private static boolean isOfKafka(PlatformTransactionManager manager) {
        return Stream.of(ClassUtils.getAllInterfaces(manager)).anyMatch(type -> type.getName()
                .equals("org.springframework.kafka.transaction.KafkaAwareTransactionManager"));
    }

    /** Fails if there is no telling which transaction manager is meant. */
    void requireManager() {
        this.manager.obtain();
    }

    /** Whether one is open that an execution joins. */
    boolean isOpen() {
        return (this.database != null)
                ? this.database.isInTransaction()
                : TransactionSynchronizationManager.isActualTransactionActive();
    }

    /** Does the work for an id in the open transaction, or in a new one; throws what the work throws. */
    <T extends @Nullable Object> T execute(MessageId id, Function<ClaimedTransaction, T> work) {
        if (this.database != null && isOpen()) {
            return join(work);
        }
        requireNotEnded();
        requireNoOther(id);
        return execute(TransactionDefinition.PROPAGATION_REQUIRED, work);
    }

    /** Does something in the open transaction: if it fails, that cannot be committed any more. */
    <T extends @Nullable Object> T join(Function<ClaimedTransaction, T> work) {
        requireManager();
        requireNotEnded();
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new UnprotectedCallException(
                    "There is no transaction open that the claim would be part of. Call it in a @Transactional method or a"
                            + " TransactionTemplate, or use execute(…), which opens one.",
                    null);
        }
        if (!isOpen()) {
            throw otherDataSource(null);
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new UnprotectedCallException(
                    "The open transaction is read-only: claim and work could not be committed in it. Remove readOnly = true.",
                    null);
        }
        return execute(TransactionDefinition.PROPAGATION_MANDATORY, work);
    }

    private <T extends @Nullable Object> T execute(int propagation, Function<ClaimedTransaction, T> work) {
        ClaimedTransaction transaction = new ClaimedTransaction(
                this.manager.obtain(), new DefaultTransactionAttribute(propagation), this.store, () -> {});
        boolean[] begun = new boolean[1];
        try {
            return transaction.execute(() -> {
                begun[0] = true;
                if (!isOpen()) {
                    throw otherDataSource(null);
                }
                return work.apply(transaction);
            });
        } catch (Throwable ex) {
            if (!begun[0] && ex instanceof IllegalTransactionStateException) {
                throw new UnprotectedCallException(
                        "The open transaction was opened by another transaction manager than the one of claims from code, %s. Use that one, or make the other one @Primary."
                                .formatted(this.manager.obtain()),
                        ex);
            }
            throw OperationTransactions.<RuntimeException>asItIs(ex);
        }
    }

    /** A checked exception that was not declared, as in Kotlin, is thrown as it is. */
    @SuppressWarnings("unchecked") // Not checked, so that nothing is cast.
    private static <T extends Throwable> T asItIs(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** A {@code @TransactionalEventListener} still finds the connection of the transaction that has ended. */
    private void requireNotEnded() {
        boolean ended = !TransactionSynchronizationManager.isSynchronizationActive()
                && (TransactionSynchronizationManager.isActualTransactionActive()
                        || (this.database != null
                                && TransactionSynchronizationManager.hasResource(this.database.dataSource())));
        if (ended) {
            throw new UnprotectedCallException(
                    "The transaction that the claim would be part of has ended: this is called after its commit or rollback,"
                            + " such as by a @TransactionalEventListener. Call it in a method with"
                            + " @Transactional(propagation = REQUIRES_NEW).",
                    null);
        }
    }

    /**
     * Fails if a transaction of another {@code DataSource} is open, and none of the store's: the claim would be committed by
     * itself, whatever becomes of that one and of the work in it.
     */
    private void requireNoOther(MessageId id) {
        if (this.database == null || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return;
        }
        DataSource own = this.database.dataSource();
        for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
            if (key instanceof DataSource other && other != own && new DataSourceTransactions(other).isOpen()) {
                throw new UnprotectedCallException(
                        ("%s cannot be claimed: a transaction of another DataSource (%s) is open, and none of the store's (%s)."
                                        + " The claim would be committed though that transaction were rolled back. Call"
                                        + " execute(…) outside of it (NOT_SUPPORTED), or in a transaction of the store's"
                                        + " (REQUIRES_NEW).")
                                .formatted(id, other, own),
                        null);
            }
        }
    }

    UnprotectedCallException otherDataSource(@Nullable Throwable cause) {
        return new UnprotectedCallException(
                "A transaction is open, but it is not one of the store's DataSource (%s), so that the claim would not be part of it."
                                .formatted((this.database != null) ? this.database.dataSource() : this.store)
                        + REMEDY,
                cause);
    }
}
