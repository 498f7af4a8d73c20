package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.Collections;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Calls a record listener with one record after the other; the first that fails is named, as batch listeners do.
 *
 * @param delivery all records of a poll
 * @param definition the listener
 * @param listener leads to its method, with the conversions of its arguments, for the record at a position
 * @param visits begins a visit of the record at a position; {@code null} if there is nothing around records
 * @param begun the visits of the attempt that was made last, which end with the next one, or are ended by the caller
 */
record RecordByRecordCall(
        Delivery delivery,
        ListenerDefinition definition,
        IntConsumer listener,
        @Nullable IntFunction<RecordVisit<?, ?>> visits,
        RecordVisits begun)
        implements ListenerCall {

    @Override
    public MessageView view(int position) {
        return new RecordView(this.delivery.records().get(position));
    }

    @Override
    public boolean isOneByOne() {
        return true;
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        if (this.visits == null) {
            callEach(admitted, this::call);
            return null;
        }
        this.begun.end();
        boolean told = TransactionSynchronizationManager.isSynchronizationActive();
        if (told) {
            TransactionSynchronizationManager.registerSynchronization(this.begun);
        }
        callEach(admitted, candidate -> visit(candidate, this.visits));
        if (!told) {
            this.begun.end(true, null);
        }
        return null;
    }

    @Override
    public OutcomeScope outcomes() {
        return this.begun;
    }

    /** A call of the listener. */
    private interface Call {

        void with(Candidate candidate) throws Throwable;
    }

    private static void callEach(List<Candidate> admitted, Call call) {
        for (Candidate candidate : admitted) {
            IdempotencyContext.Scope context = IdempotencyContext.open(Collections.singletonList(candidate.id()));
            try {
                call.with(candidate);
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw NamedFailure.at(candidate.record(), ex.getMessage(), ex);
            } finally {
                context.close();
            }
        }
    }

    private void visit(Candidate candidate, IntFunction<RecordVisit<?, ?>> visits) throws Throwable {
        RecordVisit<?, ?> visit = visits.apply(candidate.position());
        this.begun.add(visit);
        this.begun.identifyLast(candidate.coordinates());
        try {
            call(candidate);
        } catch (Throwable ex) {
            this.begun.failAtLast(ex);
            throw ex;
        } finally {
            visit.leave();
        }
    }

    private void call(Candidate candidate) throws Throwable {
        Delivery claimed = Delivery.ofClaimed(this.delivery.methods(), candidate.record());
        try {
            claimed.during(() -> this.listener.accept(candidate.position()));
        } catch (ListenerExecutionFailedException ex) {
            throw (ex.getCause() != null) ? ex.getCause() : ex;
        }
        claimed.requireHandled();
    }

    /** A message before its record has been converted: its key is found in the record. */
    private record RecordView(ConsumerRecord<?, ?> record) implements MessageView {

        @Override
        public @Nullable Object payload() {
            return this.record.value();
        }

        @Override
        public @Nullable Object argument(int index) {
            throw new IllegalStateException("There are no arguments before the record has been converted");
        }
    }
}
