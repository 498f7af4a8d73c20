package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerTransaction;
import dev.idempotency.store.Admission;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One transaction for records that are handed to their listener one after the other, each claimed when it gets there.
 *
 * <p>What was committed is told at once. Of a failure nothing is told: whoever shares it makes another attempt at each.
 */
final class PollTransaction implements ListenerTransaction.Work, Delivery.SharedTransaction {

    /** Hands over the records. */
    interface Handover {

        void run(PollTransaction transaction) throws Throwable;
    }

    private final ListenerTransaction transaction;
    private final RecordVisits visits;
    private final Handover handover;
    private final List<Attempt> attempts = new ArrayList<>();
    private final TransactionWatch watch = new TransactionWatch();
    private boolean committed;

    /** {@code visits} has the visit of each record when it is handed over. */
    PollTransaction(ListenerTransaction transaction, RecordVisits visits, Handover handover) {
        this.transaction = transaction;
        this.visits = visits;
        this.handover = handover;
    }

    void execute() throws Throwable {
        long start = System.nanoTime();
        try {
            this.transaction.execute(this);
            this.committed = true;
        } finally {
            this.committed |= this.attempts.stream().anyMatch(Attempt::isCommitted);
            if (this.committed) {
                report(System.nanoTime() - start);
            }
        }
    }

    @Override
    public @Nullable Object run() throws Throwable {
        this.handover.run(this);
        if (!this.attempts.isEmpty()) {
            this.attempts.get(0).watchCommit();
        }
        return null;
    }

    @Override
    public boolean isToBeUndone() {
        return false;
    }

    @Override
    public void takeBackIfCommitted() {
        this.watch.takeBackIfCommitted();
    }

    @Override
    public @Nullable Object claimAndCall(Delivery delivery, ListenerDefinition definition, MethodInvocation aspects)
            throws Throwable {
        MethodCall call = new MethodCall(aspects, delivery, definition);
        Candidate candidate = definition.candidates().create(0, call.view(0));
        this.visits.identifyLast(candidate.coordinates());
        Attempt attempt =
                new Attempt(call, List.of(candidate), new OutcomeReporter(definition, true, this.visits), this.watch);
        this.attempts.add(attempt);
        return attempt.run();
    }

    /** Whether it was committed, whatever has been thrown since. */
    boolean isCommitted() {
        return this.committed;
    }

    /** Whether the failure with which it was rolled back may say that the message which was claimed last is a duplicate. */
    boolean isRefusedBy(Throwable failure) {
        Attempt last = last();
        try {
            return last != null && last.isRefusedBy(failure);
        } catch (RuntimeException ex) {
            // Whoever is asked may not answer now. The message by itself will tell.
            return true;
        }
    }

    private @Nullable Attempt last() {
        return this.attempts.isEmpty() ? null : this.attempts.get(this.attempts.size() - 1);
    }

    /** The listener whose method was called last, or {@code null} if none was. */
    @Nullable
    ListenerDefinition lastCalled() {
        Attempt last = last();
        return (last != null && !last.called().isEmpty()) ? last.definition() : null;
    }

    /** Whether any method was called. */
    boolean hasCalled() {
        return this.attempts.stream().anyMatch(attempt -> !attempt.called().isEmpty());
    }

    private void report(long nanos) {
        Map<ListenerDefinition, List<Admission>> answers = new LinkedHashMap<>();
        for (Attempt attempt : this.attempts) {
            Admission answer = attempt.admission();
            if (answer != null) {
                answers.computeIfAbsent(attempt.definition(), definition -> new ArrayList<>())
                        .add(answer);
            }
        }
        answers.forEach((definition, all) ->
                new OutcomeReporter(definition, true, this.visits).committed(Admission.ofAll(all), nanos));
    }
}
