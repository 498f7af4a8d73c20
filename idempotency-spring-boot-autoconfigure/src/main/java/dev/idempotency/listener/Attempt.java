package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerTransaction;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One transaction: claims messages, calls the listener with those that may enter, keeps them in the inbox, and commits.
 *
 * <p>What was committed is told at once. Of a failure, whoever made the attempt decides whose it is, and has it told.
 */
final class Attempt implements ListenerTransaction.Work, TransactionSynchronization {

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final List<Candidate> candidates;
    private final OutcomeReporter reporter;
    private @Nullable Admission admission;
    private @Nullable BooleanSupplier held;
    private IdempotencyContext.@Nullable Scope context;
    private boolean committed;

    Attempt(ListenerCall call, List<Candidate> candidates, OutcomeReporter reporter) {
        this.call = call;
        this.delivery = call.delivery();
        this.definition = call.definition();
        this.candidates = candidates;
        this.reporter = reporter;
    }

    @Nullable
    Object execute() throws Throwable {
        long start = System.nanoTime();
        try {
            Object result = this.definition.transaction().execute(this);
            this.committed |= !isToBeUndone();
            return result;
        } finally {
            if (this.context != null) {
                this.context.close();
            }
            if (this.committed && this.admission != null) {
                this.reporter.committed(this.admission, System.nanoTime() - start);
            }
        }
    }

    @Override
    public @Nullable Object run() throws Throwable {
        Admission answer = claim();
        this.admission = answer;
        if (answer.isEmpty() && !this.candidates.isEmpty()) {
            this.delivery.skip();
            Object reply = this.call.replyAgain(this.candidates);
            awaitCommit();
            return (reply != null) ? reply : this.definition.method().resultWhenSkipped();
        }
        this.held = watchTransaction(answer.claimed());
        // Until the end of the transaction: what it calls before and after its commit acts for the same messages.
        this.context = IdempotencyContext.open(answer.ids());
        return callListenerAndKeep(answer.admitted());
    }

    private Admission claim() {
        ConsumerObserver observer = this.definition.observer();
        long start = System.nanoTime();
        try {
            Admission answer = Admission.request(this.candidates, this.definition.store());
            int claimed = answer.admitted().size();
            observer.claimAnswered(claimed, this.candidates.size() - claimed, System.nanoTime() - start);
            return answer;
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            throw ex;
        }
    }

    /** Asks the store, whenever it is asked, whether the database still holds the current transaction. */
    private BooleanSupplier watchTransaction(@Nullable MessageId claimed) {
        ProcessedMessageStore store = this.definition.store();
        return (claimed != null) ? () -> store.holds(claimed) : store.watchTransaction(this.definition.consumer());
    }

    private @Nullable Object callListenerAndKeep(List<Candidate> admitted) throws Throwable {
        Object result;
        try {
            result = this.call.call(admitted);
        } catch (Throwable ex) {
            if (!this.definition.transaction().rollsBack(ex)) {
                this.reporter.processed(admitted);
                awaitCommit();
            }
            throw ex;
        }
        if (!isToBeUndone()) {
            this.reporter.processed(admitted);
            awaitCommit();
        }
        return result;
    }

    /** What is registered now is called after all that the listener has registered. */
    private void awaitCommit() {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(this);
        } else {
            beforeCommit(false);
        }
    }

    /**
     * Looks whether the database still holds the transaction: it may have undone it, all or nothing, and will not say so
     * when it is asked to commit.
     *
     * @throws TransactionLostException if it has
     */
    @Override
    public void beforeCommit(boolean readOnly) {
        if (this.held != null && this.admission != null && !this.held.getAsBoolean()) {
            MessageId claimed = this.admission.claimed();
            throw new TransactionLostException(
                    ("The database has given up the transaction of %s of consumer '%s': one of the listener's"
                                    + " statements failed, and the error was caught. Nothing was committed, and the"
                                    + " message comes again. Let the error reach the listener's caller, or keep the"
                                    + " statement in a transaction of its own: in a method of another bean with"
                                    + " REQUIRES_NEW, or with NESTED where the transaction manager has savepoints (a"
                                    + " JdbcTransactionManager has, a JpaTransactionManager has not).")
                            .formatted(
                                    (claimed != null) ? "message '" + claimed.value() + "'" : "a message without an id",
                                    this.definition.consumer()));
        }
    }

    @Override
    public void afterCompletion(int status) {
        this.committed = status == STATUS_COMMITTED;
    }

    @Override
    public boolean isToBeUndone() {
        return this.delivery.isNacked();
    }

    /** Whether it was committed, whatever has been thrown since. */
    boolean isCommitted() {
        return this.committed;
    }

    /** The messages that the listener was called with. */
    List<Candidate> called() {
        return (this.admission != null) ? this.admission.admitted() : List.of();
    }

    /** How many messages fail with it. */
    int messagesAtStake() {
        return (this.admission != null) ? this.admission.admitted().size() : this.candidates.size();
    }
}
