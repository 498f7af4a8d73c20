package dev.idempotency.internal.store;

import dev.idempotency.IdempotencyException;
import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.interceptor.NoRollbackRuleAttribute;
import org.springframework.transaction.interceptor.RollbackRuleAttribute;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One transaction of a listener, or of code, that claims messages and does the work for them: both are committed, or neither is.
 *
 * <p>Every exception rolls back, checked ones too, unless {@code noRollbackFor} names it: the message is redelivered, so it
 * must not stay claimed. As the last thing before the commit it looks whether the database still has the transaction: after an
 * error that the work has caught, PostgreSQL would roll back, and its driver would not say so.
 */
public final class ClaimedTransaction implements TransactionSynchronization {

    private static final Logger logger = LoggerFactory.getLogger(ClaimedTransaction.class);

    /** Work that may throw anything. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object> {

        T run() throws Throwable;
    }

    private final PlatformTransactionManager transactionManager;
    private final TransactionAttribute attribute;
    private final ProcessedMessageStore store;
    private final Runnable afterCommit;
    private @Nullable TransactionStatus status;
    private @Nullable BooleanSupplier held;
    private Supplier<String> claimed = () -> "";
    private @Nullable MessageId claimedId;
    private Runnable lastStatement = () -> {};
    private boolean rollbackRequested;
    private boolean committing;
    private boolean committed;

    /** {@code afterCommit} is run after the commit, on its thread. */
    public ClaimedTransaction(
            PlatformTransactionManager transactionManager,
            TransactionAttribute attribute,
            ProcessedMessageStore store,
            Runnable afterCommit) {
        this.transactionManager = transactionManager;
        this.attribute = attribute;
        this.store = store;
        this.afterCommit = afterCommit;
    }

    /** Begins the transaction, or joins the open one, as its attribute says; does the work, and commits. */
    public <T extends @Nullable Object> T execute(Work<T> work) throws Throwable {
        TransactionStatus begun = begin();
        this.status = begun;
        T result;
        try {
            result = work.run();
        } catch (Throwable ex) {
            complete(begun, ex);
            throw ex;
        }
        if (this.rollbackRequested) {
            this.transactionManager.rollback(begun);
        } else {
            commit(begun);
        }
        return result;
    }

    /** A missing connection is the store's failure; a transaction that is not supported is not. */
    private TransactionStatus begin() {
        try {
            return this.transactionManager.getTransaction(this.attribute);
        } catch (CannotCreateTransactionException ex) {
            throw (ex instanceof NestedTransactionNotSupportedException)
                    ? ex
                    : StoreExceptionTranslator.translate("begin a transaction", ex);
        }
    }

    private void commit(TransactionStatus begun) {
        boolean marked = begun.isRollbackOnly();
        this.transactionManager.commit(begun);
        if (marked) {
            // A manager rolls back silently what was marked from outside, as by a TransactionExecutionListener.
            throw new UnexpectedRollbackException(
                    "Transaction rolled back because it has been marked as rollback-only");
        }
        this.committed = true;
        this.afterCommit.run();
    }

    private void complete(TransactionStatus begun, Throwable failure) {
        if (rollsBack(failure)) {
            try {
                this.transactionManager.rollback(begun);
            } catch (RuntimeException | Error ex) {
                // The database undoes what it was not told to commit; the work's own failure is what matters.
                failure.addSuppressed(ex);
            }
            return;
        }
        try {
            commit(begun);
        } catch (RuntimeException | Error ex) {
            // An error handler may know that the listener's own failure commits, and would take the message for done.
            ex.addSuppressed(failure);
            throw ex;
        }
    }

    /** Whether this failure rolls the transaction back. */
    public boolean rollsBack(Throwable failure) {
        return failure instanceof IdempotencyException
                || this.attribute.rollbackOn(failure)
                || rulesToCommit(this.attribute).noneMatch(rule -> rule.getDepth(failure) >= 0);
    }

    /** Whether there are failures for which the transaction is committed. */
    public static boolean hasExceptionsThatCommit(TransactionAttribute attribute) {
        return rulesToCommit(attribute).findAny().isPresent();
    }

    private static Stream<RollbackRuleAttribute> rulesToCommit(TransactionAttribute attribute) {
        return (attribute instanceof RuleBasedTransactionAttribute rules)
                ? rules.getRollbackRules().stream().filter(NoRollbackRuleAttribute.class::isInstance)
                : Stream.empty();
    }

    /** Has the transaction rolled back although the work returns. */
    public void requestRollback() {
        this.rollbackRequested = true;
    }

    /** Watches the transaction in which messages were claimed, {@code id} among them, unless an earlier claim in it does. */
    public void watch(@Nullable MessageId id, Supplier<String> messages) {
        boolean joined = this.status != null && !this.status.isNewTransaction();
        if (this.held == null && !(joined && isWatchedByAnother())) {
            this.claimedId = id;
            this.claimed = messages;
            this.held = StoreExceptionTranslator.attempt(
                    () -> "watch the listener's transaction", this.store::watchTransaction);
        }
    }

    private static boolean isWatchedByAnother() {
        return TransactionSynchronizationManager.isSynchronizationActive()
                && TransactionSynchronizationManager.getSynchronizations().stream()
                        .anyMatch(other -> other instanceof ClaimedTransaction claim && claim.held != null);
    }

    /** Whether it was begun here, and its commit is the one that calls synchronizations. */
    public boolean isOwn() {
        return this.status != null && this.status.isNewTransaction() && !isWithinAnother();
    }

    /** Looks at the transaction right before its commit, after everything that has been registered so far. */
    public void lookBeforeCommit() {
        lookBeforeCommit(this.lastStatement);
    }

    /** The same, followed by a statement that may commit it. */
    public void lookBeforeCommit(Runnable lastStatement) {
        this.lastStatement = lastStatement;
        if (TransactionSynchronizationManager.isSynchronizationActive() && !isWithinAnother()) {
            TransactionSynchronizationManager.registerSynchronization(this);
        } else {
            beforeCommit(false);
        }
    }

    /** Whether it ends before the transaction, such as one of Kafka, whose end calls synchronizations. */
    private boolean isWithinAnother() {
        return this.status instanceof DefaultTransactionStatus own
                && own.isNewTransaction()
                && !own.isNewSynchronization();
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        requireHeld();
        this.committing = true;
        this.lastStatement.run();
    }

    /**
     * Looks whether the database still has the transaction.
     *
     * @throws TransactionLostException if it does not
     */
    public void requireHeld() {
        BooleanSupplier asked = this.held;
        this.held = null;
        if (asked != null
                && !StoreExceptionTranslator.attempt(
                        () -> "ask whether the listener's transaction still stands", asked::getAsBoolean)
                && !isCommittedEarly()) {
            throw new TransactionLostException(
                    ("The database has ended the transaction of %s, as a statement failed in it and the error was caught."
                                    + " Let the error reach the caller, or run the statement in its own transaction"
                                    + " (REQUIRES_NEW in another bean, or NESTED with a JdbcTransactionManager).")
                            .formatted(this.claimed.get()));
        }
    }

    /** Whether a statement committed the transaction with its claim: to fail now would lose what came after it. */
    private boolean isCommittedEarly() {
        MessageId id = this.claimedId;
        try {
            if (id == null || this.store.find(List.of(id)).isEmpty()) {
                return false;
            }
        } catch (RuntimeException ex) {
            // PostgreSQL answers nothing in an aborted transaction.
            return false;
        }
        logger.warn(
                "A statement committed the transaction of {} early (create, alter, drop or truncate table, start"
                        + " transaction). A failure after it would lose the message: keep such statements out of"
                        + " listeners.",
                this.claimed.get());
        return true;
    }

    @Override
    public void afterCompletion(int status) {
        this.committed = status == STATUS_COMMITTED;
    }

    /** Whether everything that could prevent the commit has been called. */
    public boolean isCommitting() {
        return this.committing;
    }

    /** Whether it was committed, whatever has been thrown since. */
    public boolean isCommitted() {
        return this.committed;
    }
}
