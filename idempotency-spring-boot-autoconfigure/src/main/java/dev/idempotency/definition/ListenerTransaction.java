package dev.idempotency.definition;

import dev.idempotency.IdempotencyException;
import dev.idempotency.store.StoreExceptionTranslator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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

/**
 * The transaction that a listener and its claim share, with the listener's own {@code @Transactional} attributes.
 *
 * <p>Every exception rolls back, checked ones too, unless {@code noRollbackFor} names it: the container sees a failure
 * and brings the message again, so it must not stay claimed.
 */
public final class ListenerTransaction {

    /** What happens in the transaction. */
    public interface Work {

        @Nullable
        Object run() throws Throwable;

        /** Asked when the work is done: whether it is to be undone nevertheless. */
        boolean isToBeUndone();

        /** Called after the transaction has failed, or was undone; if this fails, it is called again before the next one. */
        void takeBackIfCommitted();
    }

    private static final Logger logger = LoggerFactory.getLogger(ListenerTransaction.class);

    private final PlatformTransactionManager transactionManager;
    private final TransactionAttribute attribute;
    private final Runnable afterCommit;
    private final Queue<Work> toBeTakenBack = new ConcurrentLinkedQueue<>();

    /** {@code afterCommit} is run after each commit, on its thread. */
    ListenerTransaction(
            PlatformTransactionManager transactionManager, TransactionAttribute attribute, Runnable afterCommit) {
        this.transactionManager = transactionManager;
        this.attribute = attribute;
        this.afterCommit = afterCommit;
    }

    @Nullable
    public Object execute(Work work) throws Throwable {
        takeBackEarlier();
        TransactionStatus status = begin();
        Object result;
        try {
            result = execute(work, status);
        } catch (Throwable ex) {
            takeBack(work);
            throw ex;
        }
        if (work.isToBeUndone()) {
            takeBack(work);
        }
        return result;
    }

    /** What this fails with says nothing of the failure before, whosever that was. */
    private void takeBack(Work work) {
        try {
            work.takeBackIfCommitted();
        } catch (RuntimeException ex) {
            logger.debug("Could not look whether a failed transaction was committed, and will before the next one", ex);
            this.toBeTakenBack.add(work);
        }
    }

    private void takeBackEarlier() {
        for (Work next = this.toBeTakenBack.peek(); next != null; next = this.toBeTakenBack.peek()) {
            next.takeBackIfCommitted();
            this.toBeTakenBack.remove(next);
        }
    }

    private @Nullable Object execute(Work work, TransactionStatus status) throws Throwable {
        Object result;
        try {
            result = work.run();
        } catch (Throwable ex) {
            complete(status, ex);
            throw ex;
        }
        if (work.isToBeUndone()) {
            this.transactionManager.rollback(status);
        } else {
            commit(status);
        }
        return result;
    }

    /** Where there is no connection for it, that is not the message's fault; a transaction that cannot be is. */
    private TransactionStatus begin() {
        try {
            return this.transactionManager.getTransaction(this.attribute);
        } catch (NestedTransactionNotSupportedException ex) {
            throw ex;
        } catch (CannotCreateTransactionException ex) {
            throw StoreExceptionTranslator.translate("begin the listener's transaction", ex);
        }
    }

    private void commit(TransactionStatus status) {
        boolean marked = status.isRollbackOnly();
        this.transactionManager.commit(status);
        if (marked) {
            // By itself a manager rolls back in silence what was marked from outside, as by a listener of transactions.
            throw new UnexpectedRollbackException(
                    "Transaction rolled back because it has been marked as rollback-only");
        }
        this.afterCommit.run();
    }

    private void complete(TransactionStatus status, Throwable failure) {
        if (rollsBack(failure)) {
            try {
                this.transactionManager.rollback(status);
            } catch (RuntimeException | Error ex) {
                // The database undoes what it was not told to commit; what the listener threw is what matters.
                failure.addSuppressed(ex);
            }
            return;
        }
        try {
            commit(status);
        } catch (RuntimeException | Error ex) {
            // Whoever handles failures may know that the listener's one commits, and would take the message for done.
            ex.addSuppressed(failure);
            throw ex;
        }
    }

    /** Whether what was done is undone when it ends with this failure. */
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
}
