package dev.idempotency.operation;

import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.database.ManagedDataSource;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.function.SingletonSupplier;

/** The transaction that claims from code are part of: one of the store's {@code DataSource}, which may be written in. */
final class OperationTransaction {

    private static final String REMEDY =
            " Define a JdbcTransactionManager or JpaTransactionManager for the store's DataSource, or make it @Primary.";

    private final ListableBeanFactory beanFactory;
    private final @Nullable DataSource dataSource;
    private final SingletonSupplier<TransactionTemplate> template;

    OperationTransaction(ListableBeanFactory beanFactory, ProcessedMessageStore store) {
        this.beanFactory = beanFactory;
        this.dataSource = (store instanceof JdbcProcessedMessageStore jdbc) ? jdbc.dataSource() : null;
        this.template = SingletonSupplier.of(() -> new TransactionTemplate(manager()));
    }

    /** Fails if there is no telling which transaction manager is meant. */
    void requireManager() {
        this.template.obtain();
    }

    /** Does something in the transaction that is open, or in one of its own; whatever it throws rolls back. */
    <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
        return this.template.obtain().execute(status -> {
            try {
                require();
                return work.doInTransaction(status);
            } catch (Throwable ex) {
                // Not left to the transaction manager: one may be set to let whoever opened the transaction decide, who
                // would commit the claim of work that was not done.
                status.setRollbackOnly();
                throw ex;
            }
        });
    }

    /** Fails unless a claim would be part of a transaction that is committed with it. */
    void require() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new UnprotectedClaimException(
                    "There is no transaction open that the claim would be part of. Call it in a @Transactional method or a"
                            + " TransactionTemplate, or use execute(…), which opens one.",
                    null);
        }
        if (this.dataSource != null && !TransactionSynchronizationManager.hasResource(this.dataSource)) {
            throw otherDataSource(null);
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new UnprotectedClaimException(
                    "The transaction that is open is read-only: claim and work could not be committed in it. Remove readOnly"
                            + " = true.",
                    null);
        }
    }

    UnprotectedClaimException otherDataSource(@Nullable Throwable cause) {
        return new UnprotectedClaimException(
                "A transaction is open, but it is not one of the store's DataSource (%s), so that the claim would not be part of it."
                                .formatted(this.dataSource)
                        + REMEDY,
                cause);
    }

    private PlatformTransactionManager manager() {
        Map<String, PlatformTransactionManager> all =
                this.beanFactory.getBeansOfType(PlatformTransactionManager.class).entrySet().stream()
                        .filter(entry -> !(entry.getValue() instanceof KafkaAwareTransactionManager))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        List<PlatformTransactionManager> fitting = all.values().stream()
                .filter(manager -> this.dataSource != null && ManagedDataSource.of(manager) == this.dataSource)
                .toList();
        if (fitting.size() == 1) {
            return fitting.get(0);
        }
        PlatformTransactionManager primary = this.beanFactory
                .getBeanProvider(PlatformTransactionManager.class)
                .getIfUnique();
        if (primary != null && all.containsValue(primary)) {
            return primary;
        }
        if (all.size() == 1) {
            return all.values().iterator().next();
        }
        throw new UnprotectedClaimException(
                (all.isEmpty()
                                ? "IdempotentOperations needs a transaction manager for the store's DataSource, but there is none."
                                : "IdempotentOperations needs one transaction manager, but there are several and none is"
                                        + " primary: " + new TreeSet<>(all.keySet()) + ".")
                        + REMEDY,
                null);
    }
}
