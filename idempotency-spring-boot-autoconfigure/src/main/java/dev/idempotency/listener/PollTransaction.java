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
    private final Handover handover;
    private final List<Attempt> attempts = new ArrayList<>();
    private boolean committed;

    PollTransaction(ListenerTransaction transaction, Handover handover) {
        this.transaction = transaction;
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
            // The first claim is lost with whatever comes later, and one look is enough for all.
            this.attempts.stream()
                    .filter(attempt -> !attempt.called().isEmpty())
                    .findFirst()
                    .orElse(this.attempts.get(0))
                    .watchCommit();
        }
        return null;
    }

    @Override
    public boolean isToBeUndone() {
        return false;
    }

    @Override
    public @Nullable Object claimAndCall(Delivery delivery, ListenerDefinition definition, MethodInvocation aspects)
            throws Throwable {
        MethodCall call = new MethodCall(aspects, delivery, definition);
        Candidate candidate = definition.candidates().create(0, call.view(0));
        Attempt attempt = new Attempt(call, List.of(candidate), new OutcomeReporter(definition, true));
        this.attempts.add(attempt);
        return attempt.run();
    }

    /** Whether it was committed, whatever has been thrown since. */
    boolean isCommitted() {
        return this.committed;
    }

    /** The listener whose method was called last, or {@code null} if none was. */
    @Nullable
    ListenerDefinition lastCalled() {
        Attempt last = this.attempts.isEmpty() ? null : this.attempts.get(this.attempts.size() - 1);
        return (last != null && !last.called().isEmpty()) ? last.definition() : null;
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
        answers.forEach(
                (definition, all) -> new OutcomeReporter(definition, true).committed(Admission.ofAll(all), nanos));
    }
}
