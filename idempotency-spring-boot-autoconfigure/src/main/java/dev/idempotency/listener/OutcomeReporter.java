package dev.idempotency.listener;

import dev.idempotency.MessageConflictException;
import dev.idempotency.definition.ConflictHandling;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.inbox.DeliveredMessage;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.Stale;
import dev.idempotency.store.Admission;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells observers and the inbox what became of a listener's attempts, once that is certain. */
final class OutcomeReporter {

    private static final Logger logger = LoggerFactory.getLogger(OutcomeReporter.class);

    private final ListenerDefinition definition;
    private final boolean oneByOne;
    private final OutcomeScope scope;

    /** How often the listener was called with a message in attempts that were rolled back, of which the inbox is not told. */
    private final Map<Candidate, Integer> unrecordedCalls = new HashMap<>();

    /**
     * Reports the attempts at one delivery.
     *
     * @param oneByOne whether the listener is called with one message after the other, up to the one that fails
     * @param scope what is around the records while observers are told
     */
    OutcomeReporter(ListenerDefinition definition, boolean oneByOne, OutcomeScope scope) {
        this.definition = definition;
        this.oneByOne = oneByOne;
        this.scope = scope;
    }

    /** The listener has returned: has the messages kept in its transaction, which is still to be committed. */
    void processed(List<Candidate> messages) {
        tellInbox(messages, InboxRecorder::processed);
    }

    void committed(Admission admission, long nanos) {
        ConsumerObserver observer = this.definition.observer();
        if (!admission.isEmpty()) {
            observer.committed(nanos);
        }
        for (Candidate candidate : admission.admitted()) {
            this.scope.within(candidate.coordinates(), () -> tellProcessed(candidate, observer));
        }
        for (Duplicate duplicate : admission.duplicates()) {
            this.scope.within(duplicate.coordinates(), () -> observer.duplicate(duplicate));
            logger.debug("Dropped {}, processed before: {}", duplicate.coordinates(), duplicate);
        }
        for (Stale stale : admission.stale()) {
            this.scope.within(stale.coordinates(), () -> observer.stale(stale));
            logger.debug("Dropped {}, older than what was processed before: {}", stale.coordinates(), stale);
        }
        admission.conflicts().forEach((candidate, conflict) -> {
            this.scope.within(
                    candidate.coordinates(), () -> this.definition.conflicts().dropped(conflict));
            keepConflicting(candidate, conflict, ConflictHandling.failure(conflict));
        });
    }

    private static void tellProcessed(Candidate candidate, ConsumerObserver observer) {
        if (candidate.id() != null) {
            observer.processed(candidate.id(), candidate.coordinates());
        } else {
            observer.missingKey(candidate.coordinates());
        }
    }

    /** Tells that a message fails since it has the id of another one; returns what it fails with. */
    MessageConflictException refused(ConflictFoundException found) {
        this.definition.observer().failed(1);
        MessageConflictException failure = this.definition.conflicts().failed(found.conflict());
        keepConflicting(found.candidate(), found.conflict(), failure);
        return failure;
    }

    private void keepConflicting(Candidate candidate, Conflict conflict, MessageConflictException failure) {
        InboxRecorder inbox = this.definition.inbox();
        if (inbox != null) {
            inbox.conflicting(conflict.id(), candidate.coordinates(), candidate.record(), failure);
        }
    }

    /**
     * Tells that so many messages were rolled back; the inbox, of the one at which the listener failed, or else of all.
     *
     * @param called the messages that the listener was called with
     * @param named what says at which of them it failed
     */
    void failed(Throwable failure, int messages, List<Candidate> called, @Nullable BatchFailure named) {
        this.scope.withinFailed(() -> this.definition.observer().failed(messages));
        List<Candidate> failed = (named != null && named.candidate() != null) ? List.of(named.candidate()) : called;
        tellInbox(failed, (inbox, delivered) -> inbox.failed(delivered, failure));
        countCalls(called, named);
        failed.forEach(this.unrecordedCalls::remove);
    }

    /** Tells the inbox, where there is one, of those that it can keep: without an id nobody could find a message again. */
    private void tellInbox(
            List<Candidate> candidates, BiConsumer<InboxRecorder, List<DeliveredMessage>> whatBecameOfThem) {
        InboxRecorder inbox = this.definition.inbox();
        if (inbox == null) {
            return;
        }
        List<DeliveredMessage> messages = new ArrayList<>(candidates.size());
        for (Candidate candidate : candidates) {
            if (candidate.id() != null) {
                messages.add(new DeliveredMessage(
                        candidate.id(),
                        candidate.coordinates(),
                        candidate.record(),
                        this.unrecordedCalls.getOrDefault(candidate, 0)));
            }
        }
        if (!messages.isEmpty()) {
            whatBecameOfThem.accept(inbox, messages);
        }
    }

    /** Remembers the calls of an attempt that was rolled back, to tell the inbox with what becomes of the messages next. */
    void countCalls(List<Candidate> called, @Nullable BatchFailure named) {
        for (Candidate candidate : called) {
            this.unrecordedCalls.merge(candidate, 1, Integer::sum);
            if (this.oneByOne && named != null && candidate == named.candidate()) {
                return;
            }
        }
    }
}
