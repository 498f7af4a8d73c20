package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.MessageId;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerTransaction;
import dev.idempotency.inbox.DeliveredMessage;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.listener.Admission.Candidate;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One transaction: claim, listener, commit. Its outcome is told once it is certain. */
final class Attempt implements ListenerTransaction.Work {

    private static final Logger logger = LoggerFactory.getLogger(Attempt.class);

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final List<Candidate> candidates;
    private final int offset;
    private final int[] unrecordedCalls;
    private @Nullable Admission admission;
    private boolean committed;

    /**
     * An attempt at some messages of a delivery that stand together.
     *
     * @param candidates those messages
     * @param offset the position of the first of them in the delivery
     * @param unrecordedCalls by position in the delivery, how often the listener was called without the inbox knowing
     */
    Attempt(
            ListenerCall call,
            Delivery delivery,
            ListenerDefinition definition,
            List<Candidate> candidates,
            int offset,
            int[] unrecordedCalls) {
        this.call = call;
        this.delivery = delivery;
        this.definition = definition;
        this.candidates = candidates;
        this.offset = offset;
        this.unrecordedCalls = unrecordedCalls;
    }

    @Nullable
    Object execute() throws Throwable {
        long start = System.nanoTime();
        Object result;
        try {
            result = this.definition.transaction().execute(this);
        } catch (Throwable ex) {
            if (this.committed) {
                tellCommitted(System.nanoTime() - start);
            } else {
                tellFailed(ex, candidatesAtStake());
            }
            throw ex;
        }
        if (isToBeUndone()) {
            tellFailed(new NackedException(), candidatesAtStake());
        } else {
            tellCommitted(System.nanoTime() - start);
        }
        return result;
    }

    /** Like {@link #execute}, but returns a failure that rolled back and tells nobody of it: who tries it decides whose it is. */
    @Nullable
    Exception tryExecute() throws Throwable {
        long start = System.nanoTime();
        try {
            this.definition.transaction().execute(this);
        } catch (Exception ex) {
            if (!this.committed) {
                return ex;
            }
            tellCommitted(System.nanoTime() - start);
            throw ex;
        } catch (Error ex) {
            if (!this.committed) {
                return Delivery.asException(ex, this.delivery.records());
            }
            tellCommitted(System.nanoTime() - start);
            throw ex;
        }
        tellCommitted(System.nanoTime() - start);
        return null;
    }

    /** Tells that so many messages were rolled back; in the inbox, of the one that is named, or else of all. */
    void tellFailed(Throwable failure, int messages) {
        this.definition.observer().failed(messages);
        recordFailure(failure);
    }

    @Override
    public @Nullable Object run() throws Throwable {
        Admission answer = claim();
        this.admission = answer;
        if (answer.isEmpty() && !this.candidates.isEmpty()) {
            this.delivery.skip();
            return this.definition.method().resultWhenSkipped();
        }
        List<@Nullable MessageId> ids = new ArrayList<>(answer.positions().length);
        for (int position : answer.positions()) {
            ids.add(this.candidates.get(position).id());
        }
        IdempotencyContext.Scope context = IdempotencyContext.open(ids);
        try {
            return callListenerAndKeepMessages(ids);
        } finally {
            context.close();
        }
    }

    private @Nullable Object callListenerAndKeepMessages(List<@Nullable MessageId> ids) throws Throwable {
        ClaimGuard guard = ClaimGuard.of(this.definition.store(), this.definition.consumer(), ids);
        Object result;
        try {
            result = this.call.call(positions(), ids);
        } catch (Throwable ex) {
            if (!this.definition.transaction().rollsBack(ex)) {
                recordSuccess();
                guard.register();
            }
            throw ex;
        }
        if (!isToBeUndone()) {
            recordSuccess();
            guard.register();
        }
        return result;
    }

    private Admission claim() {
        ConsumerObserver observer = this.definition.observer();
        long start = System.nanoTime();
        try {
            Admission answer = Admission.request(this.candidates, this.definition.store());
            int claimed = answer.positions().length;
            observer.claimAnswered(claimed, this.candidates.size() - claimed, System.nanoTime() - start);
            return answer;
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            throw ex;
        }
    }

    @Override
    public void committed() {
        this.committed = true;
    }

    @Override
    public boolean isToBeUndone() {
        return this.delivery.isNacked();
    }

    /** Positions, in the delivery, of the messages that the listener was called with. */
    int[] positions() {
        int[] admitted = admittedPositions();
        return (this.offset == 0)
                ? admitted
                : Arrays.stream(admitted)
                        .map(position -> position + this.offset)
                        .toArray();
    }

    private int[] admittedPositions() {
        return (this.admission != null) ? this.admission.positions() : new int[0];
    }

    /** The first of them, or the first message at all: those before it are known to be done. */
    int firstPosition() {
        int[] positions = positions();
        return (positions.length > 0) ? positions[0] : 0;
    }

    private int candidatesAtStake() {
        return (this.admission != null) ? this.admission.positions().length : this.candidates.size();
    }

    /** Records what is about to be committed, be it that the listener returned or that its failure does not matter. */
    private void recordSuccess() {
        if (this.definition.inbox() == InboxRecorder.NONE) {
            return;
        }
        List<DeliveredMessage> messages = delivered(positions());
        if (!messages.isEmpty()) {
            this.definition.inbox().processed(messages);
        }
    }

    /** Records why the listener failed, at one message if it named one, and otherwise at all that it was called with. */
    private void recordFailure(Throwable failure) {
        if (this.definition.inbox() == InboxRecorder.NONE) {
            return;
        }
        BatchFailure named =
                this.delivery.isBatch() ? BatchFailure.in(failure, this.delivery.records(), positions()) : null;
        int[] failed = (named != null && named.position() >= 0) ? new int[] {named.position()} : positions();
        List<DeliveredMessage> messages = delivered(failed);
        if (!messages.isEmpty()) {
            this.definition.inbox().failed(messages, failure);
        }
        countCalls(named);
        for (int position : failed) {
            this.unrecordedCalls[position] = 0;
        }
    }

    /**
     * Counts the calls of an attempt that was rolled back, for the inbox to be told with what becomes of the messages next.
     *
     * @param named the message at which the listener failed; one by one it was not called with those after it
     */
    void countCalls(@Nullable BatchFailure named) {
        for (int position : positions()) {
            if (named == null || !this.call.isOneByOne() || position <= named.position()) {
                this.unrecordedCalls[position]++;
            }
        }
    }

    /** The messages at some positions of the delivery, except for those without an id, which nobody could find again. */
    private List<DeliveredMessage> delivered(int[] positions) {
        List<DeliveredMessage> messages = new ArrayList<>(positions.length);
        for (int position : positions) {
            Candidate candidate = this.candidates.get(position - this.offset);
            if (candidate.id() != null) {
                messages.add(new DeliveredMessage(
                        candidate.id(),
                        candidate.coordinates(),
                        this.delivery.records().get(position),
                        this.unrecordedCalls[position]));
            }
        }
        return messages;
    }

    private void tellCommitted(long nanos) {
        ConsumerObserver observer = this.definition.observer();
        int[] admitted = admittedPositions();
        if (admitted.length > 0) {
            observer.committed(nanos);
        }
        for (int position : admitted) {
            Candidate candidate = this.candidates.get(position);
            if (candidate.id() != null) {
                observer.processed(candidate.id(), candidate.coordinates());
            } else {
                observer.missingKey(candidate.coordinates());
            }
        }
        if (this.admission != null) {
            for (Duplicate duplicate : this.admission.duplicates()) {
                observer.duplicate(duplicate);
                logger.debug("Dropped {}, processed before: {}", duplicate.coordinates(), duplicate);
            }
        }
    }
}
