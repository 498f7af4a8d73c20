package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerTransaction;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.Admission;
import dev.idempotency.store.Candidate;
import dev.idempotency.store.StoreExceptionTranslator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One transaction: claims messages, calls the listener with those that are new, stores them in the inbox, and commits.
 *
 * <p>Reports committed outcomes immediately. Failures are reported by the caller.
 */
final class Attempt implements ListenerTransaction.Work, TransactionSynchronization {

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final List<Candidate> candidates;
    private final OutcomeReporter reporter;
    private final TransactionWatch watch = new TransactionWatch();
    private final Refusal refusal;
    private @Nullable Admission admission;
    private IdempotencyContext.@Nullable Scope context;
    private boolean committed;
    private boolean committing;
    private boolean returned;

    Attempt(ListenerCall call, List<Candidate> candidates, OutcomeReporter reporter) {
        this.call = call;
        this.delivery = call.delivery();
        this.definition = call.definition();
        this.candidates = candidates;
        this.reporter = reporter;
        this.refusal = new Refusal(this.definition.strategy());
    }

    @Nullable
    Object execute() throws Throwable {
        long start = System.nanoTime();
        try {
            Object result = this.definition.transaction().execute(this);
            this.committed |= !isToBeUndone();
            return result;
        } catch (Throwable ex) {
            return dropIfRefused(ex);
        } finally {
            endContext();
            settle();
            if (this.committed && this.admission != null) {
                this.reporter.committed(this.admission, System.nanoTime() - start);
            }
        }
    }

    /**
     * Whatever is thrown from now on, by what is called after the commit or with the listener's result: the records are done,
     * and no error handler may give them up. They come again and are dropped.
     */
    private void settle() {
        if (this.committed
                && this.returned
                && this.candidates.size() == this.delivery.records().size()) {
            this.delivery.settle();
        }
    }

    /**
     * Looks whether the failure of an attempt that was rolled back says that its message is a duplicate; of several it
     * says only that one of them is.
     *
     * @throws Throwable that failure, if it is one
     */
    private @Nullable Object dropIfRefused(Throwable failure) throws Throwable {
        Duplicate duplicate =
                (this.committed || isToBeUndone()) ? null : this.refusal.findDuplicate(this.candidates, failure);
        if (duplicate == null) {
            throw failure;
        }
        this.admission = new Admission(List.of(), List.of(duplicate));
        this.committed = true;
        this.delivery.skip();
        return this.definition.method().resultWhenSkipped();
    }

    @Override
    public @Nullable Object run() throws Throwable {
        Admission answer = claim();
        if (this.definition.conflicts().isFailure()) {
            refuseConflicts(answer);
        }
        this.admission = answer;
        if (answer.isEmpty() && !this.candidates.isEmpty()) {
            this.delivery.skip();
            Object reply = this.call.replyAgain(this.candidates);
            watchCommit();
            return (reply != null) ? reply : this.definition.method().resultWhenSkipped();
        }
        this.watch.begin(this.definition, answer);
        // Until the end of the transaction: what is called before and after its commit acts for them.
        this.context = IdempotencyContext.open(answer.ids());
        try {
            return callListenerAndKeep(answer.admitted());
        } catch (Throwable ex) {
            this.refusal.look();
            throw ex;
        }
    }

    private void endContext() {
        if (this.context != null) {
            this.context.close();
            this.context = null;
        }
    }

    private Admission claim() {
        if (this.candidates.isEmpty()) {
            // A filter has left nothing of a batch.
            return new Admission(List.of(), List.of());
        }
        if (!this.definition.strategy().isClaim()) {
            return this.definition.strategy().admit(this.candidates);
        }
        ConsumerObserver observer = this.definition.observer();
        long start = System.nanoTime();
        try {
            Admission answer = this.definition.strategy().admit(this.candidates);
            int claimed = answer.admitted().size();
            observer.claimAnswered(claimed, this.candidates.size() - claimed, System.nanoTime() - start);
            return answer;
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            throw ex;
        }
    }

    /** What was claimed beside a message that must not be dropped is undone. */
    private static void refuseConflicts(Admission answer) {
        for (Map.Entry<Candidate, Conflict> first : answer.conflicts().entrySet()) {
            throw new ConflictFoundException(first.getKey(), first.getValue());
        }
    }

    private @Nullable Object callListenerAndKeep(List<Candidate> admitted) throws Throwable {
        Object result;
        try {
            result = this.call.call(admitted);
        } catch (Throwable ex) {
            if (!this.definition.transaction().rollsBack(ex)) {
                keep(admitted);
            }
            throw ex;
        }
        if (!isToBeUndone()) {
            keep(admitted);
            this.returned = true;
        }
        return result;
    }

    private void keep(List<Candidate> admitted) {
        try {
            this.reporter.processed(admitted);
        } catch (RuntimeException ex) {
            if (StoreExceptionTranslator.isOfAbortedTransaction(ex)) {
                // A statement of the listener's had failed before, and the error was caught.
                this.watch.requireHeld();
            }
            throw ex;
        }
        watchCommit();
    }

    /** Has the transaction looked at before its commit, after everything that the listener has registered. */
    private void watchCommit() {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(this);
        } else {
            beforeCommit(false);
        }
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        this.watch.requireHeld();
        this.committing = true;
    }

    /** What others did before the commit may have failed, and not in this transaction. */
    @Override
    public void beforeCompletion() {
        if (!this.committing) {
            this.refusal.look();
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

    @Override
    public void takeBackIfCommitted() {
        this.watch.takeBackIfCommitted();
    }

    /** Whether it was committed, whatever has been thrown since, or its message was dropped. */
    boolean isCommitted() {
        return this.committed;
    }

    /** The messages that the listener was called with. */
    List<Candidate> called() {
        return (this.admission != null) ? this.admission.admitted() : List.of();
    }
}
