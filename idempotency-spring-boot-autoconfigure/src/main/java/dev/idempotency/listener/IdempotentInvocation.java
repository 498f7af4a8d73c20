package dev.idempotency.listener;

import dev.idempotency.MessageConflictException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.serializer.DeserializationException;

/**
 * One call of a listener: identifies its messages and processes them, in one transaction. Where a message has failed,
 * those before it are processed again, together or one by one, before the error handler is told so.
 */
final class IdempotentInvocation {

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final List<Candidate> candidates;
    private final OutcomeReporter reporter;

    private IdempotentInvocation(ListenerCall call) {
        this.call = call;
        this.delivery = call.delivery();
        this.definition = call.definition();
        this.candidates = new ArrayList<>(this.delivery.records().size());
        this.reporter = new OutcomeReporter(this.definition, call.isOneByOne(), call.outcomes());
    }

    static @Nullable Object proceed(ListenerCall call) throws Throwable {
        return new IdempotentInvocation(call).proceed();
    }

    private @Nullable Object proceed() throws Throwable {
        this.call.requireKeys();
        RuntimeException unusable = identify();
        if (unusable == null) {
            return settle();
        }
        // What stands before the unusable record is done first, so that the error handler recovers that one alone.
        ConsumerRecord<?, ?> culprit = this.delivery.records().get(this.candidates.size());
        if (!this.candidates.isEmpty()) {
            Object result = settle();
            if (this.delivery.isNacked()) {
                // It was rolled back: naming the culprit would have the error handler commit its offsets.
                return result;
            }
        }
        RuntimeException failure = this.definition.keyFailures().judge(unusable, RecordCoordinates.of(culprit));
        throw this.delivery.isBatch() ? NamedFailure.at(culprit, failure.getMessage(), failure) : failure;
    }

    /** Identifies the messages, up to the first that cannot be; returns why it cannot. */
    private @Nullable RuntimeException identify() {
        List<? extends ConsumerRecord<?, ?>> records = this.delivery.records();
        for (int i = 0; i < records.size(); i++) {
            ConsumerRecord<?, ?> record = records.get(i);
            DeserializationException garbled =
                    this.delivery.isBatch() ? ReadableRecordFilter.failureToRead(record) : null;
            if (garbled != null) {
                return garbled;
            }
            try {
                this.candidates.add(this.definition.candidates().create(i, this.call.view(i)));
            } catch (RuntimeException ex) {
                return ex;
            }
        }
        return null;
    }

    /** Processes the messages that were identified. */
    private @Nullable Object settle() throws Throwable {
        if (this.call.isOneByOne()) {
            settleTogetherOrEach(this.candidates);
            return null;
        }
        Attempt attempt = attempt(this.candidates);
        try {
            return executeAndReport(attempt);
        } catch (ConflictFoundException ex) {
            throw refuse(ex);
        } catch (Throwable ex) {
            if (this.delivery.isBatch() && attempt.isToBeTakenApart()) {
                settleEach(this.candidates);
                return null;
            }
            BatchFailure named = namedIn(ex, attempt);
            if (named == null) {
                throw ex;
            }
            if (named.candidate() != null) {
                // The error handler will commit the offsets of those before it, which were rolled back with it.
                settleTogetherOrEach(
                        this.candidates.subList(0, named.candidate().position()));
            }
            throw named.forErrorHandler();
        }
    }

    /**
     * Processes messages in one transaction or, where that fails, each in its own: so a message is not blamed for what
     * another one did to their transaction, or for a commit that failed. Only one that was the first to be called has no
     * need to fail twice.
     */
    private void settleTogetherOrEach(List<Candidate> messages) throws Throwable {
        if (messages.isEmpty()) {
            return;
        }
        Attempt together = attempt(messages);
        BatchFailure named = null;
        try {
            together.execute();
            if (together.isCommitted()) {
                return;
            }
        } catch (ConflictFoundException ex) {
            throw refuse(ex);
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            if (together.isCommitted()) {
                throw ex;
            }
            named = namedIn(ex, together);
            if (named != null && !together.isToBeTakenApart() && named.isFirstOf(together.called())) {
                settleEach(messages.subList(0, together.called().get(0).position()));
                this.reporter.failed(ex, 1, together.called(), named);
                throw named.forErrorHandler();
            }
        }
        this.reporter.countCalls(together.called(), named);
        settleEach(messages);
    }

    /** Processes messages, each in a transaction of its own, up to the first that fails. */
    private void settleEach(List<Candidate> messages) {
        SeparatedBatch.processEach(this.delivery.records().subList(0, messages.size()), position -> {
            Attempt alone = attempt(messages.subList(position, position + 1));
            try {
                executeAndReport(alone);
            } catch (ConflictFoundException ex) {
                throw this.reporter.refused(ex);
            }
            return alone.isCommitted();
        });
    }

    /** What stands before a message that has the id of another one is done first, as it is the only one that fails. */
    private RuntimeException refuse(ConflictFoundException found) throws Throwable {
        Candidate culprit = found.candidate();
        settleTogetherOrEach(this.candidates.subList(0, culprit.position()));
        MessageConflictException failure = this.reporter.refused(found);
        return this.delivery.isBatch() ? NamedFailure.at(culprit.record(), failure.getMessage(), failure) : failure;
    }

    private Attempt attempt(List<Candidate> messages) {
        return new Attempt(this.call, messages, this.reporter);
    }

    /** Makes an attempt and reports its failure; {@code nack()} is one, though nothing is thrown. */
    private @Nullable Object executeAndReport(Attempt attempt) throws Throwable {
        Object result;
        try {
            result = attempt.execute();
        } catch (ConflictFoundException ex) {
            throw ex;
        } catch (Throwable ex) {
            if (!attempt.isCommitted() && !attempt.isToBeTakenApart()) {
                this.reporter.failed(ex, attempt.messagesAtStake(), attempt.called(), namedIn(ex, attempt));
            }
            throw ex;
        }
        if (!attempt.isCommitted()) {
            this.reporter.failed(new NackedException(), attempt.messagesAtStake(), attempt.called(), null);
        }
        return result;
    }

    private @Nullable BatchFailure namedIn(Throwable failure, Attempt attempt) {
        return this.delivery.isBatch() ? BatchFailure.in(failure, attempt.atStake()) : null;
    }
}
