package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.inbox.DeliveredMessage;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells observers and the inbox what became of a listener's attempts, once that is certain. */
final class OutcomeReporter {

    private static final Logger logger = LoggerFactory.getLogger(OutcomeReporter.class);

    private final ListenerDefinition definition;
    private final boolean oneByOne;

    /**
     * Reports the attempts at one delivery.
     *
     * @param oneByOne whether the listener is called with one message after the other, up to the one that fails
     */
    OutcomeReporter(ListenerDefinition definition, boolean oneByOne) {
        this.definition = definition;
        this.oneByOne = oneByOne;
    }

    void committed(Admission admission, long nanos) {
        ConsumerObserver observer = this.definition.observer();
        if (!admission.isEmpty()) {
            observer.committed(nanos);
        }
        for (Candidate candidate : admission.admitted()) {
            if (candidate.id() != null) {
                observer.processed(candidate.id(), candidate.coordinates());
            } else {
                observer.missingKey(candidate.coordinates());
            }
        }
        for (Duplicate duplicate : admission.duplicates()) {
            observer.duplicate(duplicate);
            logger.debug("Dropped {}, processed before: {}", duplicate.coordinates(), duplicate);
        }
    }

    /**
     * Tells that so many messages were rolled back; the inbox, of the one at which the listener failed, or else of all.
     *
     * @param called the messages that the listener was called with
     * @param named what says at which of them it failed
     */
    void failed(Throwable failure, int messages, List<Candidate> called, @Nullable BatchFailure named) {
        this.definition.observer().failed(messages);
        if (this.definition.inbox() == InboxRecorder.NONE) {
            return;
        }
        List<Candidate> failed = (named != null && named.candidate() != null) ? List.of(named.candidate()) : called;
        List<DeliveredMessage> delivered = Candidate.delivered(failed);
        if (!delivered.isEmpty()) {
            this.definition.inbox().failed(delivered, failure);
        }
        countCalls(called, named);
        failed.forEach(Candidate::forgetUnrecordedCalls);
    }

    /** Remembers the calls of an attempt that was rolled back, to tell the inbox with what becomes of the messages next. */
    void countCalls(List<Candidate> called, @Nullable BatchFailure named) {
        for (Candidate candidate : called) {
            candidate.countUnrecordedCall();
            if (this.oneByOne && named != null && candidate == named.candidate()) {
                return;
            }
        }
    }
}
