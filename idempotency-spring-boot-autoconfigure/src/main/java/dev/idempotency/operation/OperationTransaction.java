package dev.idempotency.operation;

import dev.idempotency.MessageId;
import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.database.BoundTransaction;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.function.SingletonSupplier;

/** The transaction that claims from code are part of: one of the store's {@code DataSource}, which may be written in. */
final class OperationTransaction {

    private final @Nullable IdempotencyDatabase database;
    private final @Nullable DataSource dataSource;
    private final @Nullable TransactionEnds ends;
    private final SingletonSupplier<OperationTransactionManagers> managers;

    OperationTransaction(ListableBeanFactory beanFactory, ProcessedMessageStore store) {
        this.database = (store instanceof JdbcProcessedMessageStore jdbc) ? jdbc.database() : null;
        this.dataSource = (this.database != null) ? this.database.dataSource() : null;
        this.ends = (this.dataSource != null) ? new TransactionEnds(this.dataSource) : null;
        this.managers = SingletonSupplier.of(() -> findManagers(beanFactory));
    }

    private OperationTransactionManagers findManagers(ListableBeanFactory beanFactory) {
        OperationTransactionManagers found = OperationTransactionManagers.find(beanFactory, this.dataSource);
        if (this.ends != null) {
            found.all().forEach(this.ends::hear);
        }
        return found;
    }

    /** Fails if there is no telling which transaction manager is meant. */
    void requireManager() {
        this.managers.obtain();
    }

    /** Whether one is open that an execution joins. */
    boolean isOpen() {
        return !hasEnded()
                && ((this.database != null)
                        ? this.database.isInTransaction()
                        : TransactionSynchronizationManager.isActualTransactionActive());
    }

    /**
     * Whether the one that seems to be open has ended, and this is called after that. Without synchronization, it is: those
     * that are called then have been taken off.
     */
    private boolean hasEnded() {
        if (this.ends != null && this.ends.hasEnded()) {
            return true;
        }
        return !TransactionSynchronizationManager.isSynchronizationActive()
                && (TransactionSynchronizationManager.isActualTransactionActive()
                        || (this.dataSource != null && TransactionSynchronizationManager.hasResource(this.dataSource)));
    }

    /**
     * Does something for an id in the transaction that is open, or in one of its own; whatever it throws rolls back, and is
     * thrown as it is.
     */
    <T extends @Nullable Object> T execute(MessageId id, TransactionCallback<T> work) {
        OperationTransactionManagers known = this.managers.obtain();
        if (hasEnded()) {
            return execute(known.own(), TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
        }
        requireNoOther(id);
        return (this.database != null && this.database.isInTransaction())
                ? join(id, known, work)
                : execute(known.own(), TransactionDefinition.PROPAGATION_REQUIRED, work);
    }

    /**
     * Does it with the manager that has opened the transaction. To any other one its connection is free: that would begin
     * another transaction on it, and commit all that was done before.
     */
    private <T extends @Nullable Object> T join(
            MessageId id, OperationTransactionManagers known, TransactionCallback<T> work) {
        AtomicBoolean joined = new AtomicBoolean();
        for (PlatformTransactionManager manager : known.all()) {
            try {
                return execute(manager, TransactionDefinition.PROPAGATION_MANDATORY, status -> {
                    joined.set(true);
                    return work.doInTransaction(status);
                });
            } catch (IllegalTransactionStateException ex) {
                if (joined.get()) {
                    throw ex;
                }
            }
        }
        throw new UnprotectedClaimException(
                ("%s cannot be claimed: the transaction that is open is one of the store's DataSource, but of another"
                                + " transaction manager than those that are known, %s. Define that one as a bean, open the"
                                + " transaction with one of these, or use claim(…).")
                        .formatted(id, known.all()),
                null);
    }

    private <T extends @Nullable Object> T execute(
            PlatformTransactionManager manager, int propagation, TransactionCallback<T> work) {
        TransactionTemplate transaction =
                new TransactionTemplate(manager, new DefaultTransactionDefinition(propagation));
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try {
            return transaction.execute(status -> {
                try {
                    require();
                    T result = work.doInTransaction(status);
                    requireCommit(status);
                    return result;
                } catch (Throwable ex) {
                    failure.set(ex);
                    // Not left to the transaction manager: one may be set to let whoever opened the transaction decide,
                    // who would commit the claim of work that was not done.
                    status.setRollbackOnly();
                    throw ex;
                }
            });
        } catch (UndeclaredThrowableException ex) {
            Throwable thrown = failure.get();
            if (thrown == null || ex.getUndeclaredThrowable() != thrown) {
                throw ex;
            }
            // A checked exception that was not declared, as in Kotlin.
            throw OperationTransaction.<RuntimeException>asItIs(thrown);
        }
    }

    /** By itself a manager rolls back in silence what was marked from outside, as by a listener of transactions. */
    private static void requireCommit(TransactionStatus status) {
        if (status.isNewTransaction() && status.isRollbackOnly()) {
            throw new UnexpectedRollbackException(
                    "The transaction was marked to be rolled back: neither the claim nor the work is committed");
        }
    }

    @SuppressWarnings("unchecked") // Not checked, so that nothing is cast.
    private static <T extends Throwable> T asItIs(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /**
     * Fails if a transaction of another {@code DataSource} is open, and none of the store's: the claim would be committed by
     * itself, whatever becomes of that one and of the work in it.
     */
    private void requireNoOther(MessageId id) {
        if (this.database == null
                || !TransactionSynchronizationManager.isActualTransactionActive()
                || this.database.isInTransaction()) {
            return;
        }
        for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
            if (key instanceof DataSource other && other != this.dataSource && new BoundTransaction(other).isOpen()) {
                throw new UnprotectedClaimException(
                        ("%s cannot be claimed: a transaction of another DataSource (%s) is open, and none of the store's (%s)."
                                        + " The claim would be committed though that transaction were rolled back, and with"
                                        + " it the work. Call execute(…) outside of that transaction, such as in a method"
                                        + " with @Transactional(propagation = NOT_SUPPORTED) of its transaction manager; or,"
                                        + " if the work is done in the store's database alone, in a method with REQUIRES_NEW"
                                        + " of the store's transaction manager.")
                                .formatted(id, other, this.dataSource),
                        null);
            }
        }
    }

    /** Fails unless a claim would be part of a transaction that is committed with it. */
    void require() {
        requireManager();
        if (hasEnded()) {
            throw new UnprotectedClaimException(
                    "The transaction that the claim would be part of has ended: this is called after its commit or rollback,"
                            + " such as by a @TransactionalEventListener. Use execute(…), which opens another one, or call it"
                            + " in a method of another bean with REQUIRES_NEW.",
                    null);
        }
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new UnprotectedClaimException(
                    "There is no transaction open that the claim would be part of. Call it in a @Transactional method or a"
                            + " TransactionTemplate, or use execute(…), which opens one.",
                    null);
        }
        if (this.database != null && !this.database.isInTransaction()) {
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
                        + OperationTransactionManagers.REMEDY,
                cause);
    }
}
