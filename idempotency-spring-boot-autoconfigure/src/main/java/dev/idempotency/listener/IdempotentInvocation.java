package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.failure.BatchSeparation;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.listener.Admission.Candidate;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.support.serializer.DeserializationException;

/** One call of a listener: identify its messages, claim them, let the new ones in, commit, and tell the outcome. */
final class IdempotentInvocation {

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final List<Candidate> candidates;
    private final int[] unrecordedCalls;

    private IdempotentInvocation(ListenerCall call, Delivery delivery, ListenerDefinition definition) {
        this.call = call;
        this.delivery = delivery;
        this.definition = definition;
        this.candidates = new ArrayList<>(delivery.records().size());
        this.unrecordedCalls = new int[delivery.records().size()];
    }

    static @Nullable Object proceed(ListenerCall call, Delivery delivery, ListenerDefinition definition)
            throws Throwable {
        return new IdempotentInvocation(call, delivery, definition).proceed();
    }

    private @Nullable Object proceed() throws Throwable {
        List<? extends ConsumerRecord<?, ?>> records = this.delivery.records();
        RuntimeException unusable = identify();
        if (unusable == null) {
            return settle(records.size());
        }
        // What stands before the unusable record is done first, so that the error handler recovers that one alone.
        ConsumerRecord<?, ?> culprit = records.get(this.candidates.size());
        if (!this.candidates.isEmpty()) {
            Object result = settle(this.candidates.size());
            if (this.delivery.isNacked()) {
                // It was rolled back: naming the culprit would have the error handler commit its offsets.
                return result;
            }
        }
        RuntimeException failure = this.definition.keyFailures().judge(unusable, RecordCoordinates.of(culprit));
        throw this.delivery.isBatch() ? BatchFailure.at(culprit, failure.getMessage(), failure) : failure;
    }

    /** Identifies the messages, up to the first that cannot be; returns why it cannot. */
    private @Nullable RuntimeException identify() {
        List<? extends ConsumerRecord<?, ?>> records = this.delivery.records();
        for (int i = 0; i < records.size(); i++) {
            DeserializationException garbled =
                    this.delivery.isBatch() ? DeserializationFailure.find(records.get(i)) : null;
            if (garbled != null) {
                return garbled;
            }
            try {
                this.candidates.add(new Candidate(
                        this.definition.ids().resolve(this.call.view(i)), RecordCoordinates.original(records.get(i))));
            } catch (RuntimeException ex) {
                return ex;
            }
        }
        return null;
    }

    /** Processes the first messages of the delivery, in one transaction. */
    private @Nullable Object settle(int count) throws Throwable {
        if (this.delivery.isBatch() && BatchSeparation.isRequested()) {
            return settleEach(count);
        }
        if (this.call.isOneByOne()) {
            return settleTogetherOrEach(count);
        }
        Attempt attempt = attempt(0, count);
        try {
            return attempt.execute();
        } catch (Throwable ex) {
            BatchFailure failure =
                    this.delivery.isBatch() ? BatchFailure.in(ex, this.delivery.records(), attempt.positions()) : null;
            if (failure == null) {
                throw ex;
            }
            throw settleBefore(failure);
        }
    }

    /**
     * Processes the first messages of the delivery in one transaction or, where that fails, each in its own: so a message
     * is not blamed for what another one did to their transaction, or for a commit that failed. Only one that was the
     * first to be called has no need to fail twice.
     */
    private @Nullable Object settleTogetherOrEach(int count) throws Throwable {
        Attempt together = attempt(0, count);
        Exception failure = together.tryExecute();
        if (failure == null) {
            return null;
        }
        BatchFailure named = BatchFailure.in(failure, this.delivery.records(), together.positions());
        if (named == null || named.position() != together.firstPosition()) {
            together.countCalls(named);
            return settleEach(count);
        }
        settleEach(named.position());
        together.tellFailed(failure, 1);
        throw named(named.position(), named.exception());
    }

    /** Processes the first messages of the delivery, each in a transaction of its own, up to the first that fails. */
    private @Nullable Object settleEach(int count) {
        Object result = null;
        for (int i = 0; i < count; i++) {
            try {
                result = attempt(i, i + 1).execute();
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw BatchFailure.at(this.delivery.records().get(i), ex.getMessage(), ex);
            }
            if (this.delivery.isNacked()) {
                throw BatchFailure.at(
                        this.delivery.records().get(i),
                        "The listener called nack() while its batch was taken apart",
                        null);
            }
        }
        return result;
    }

    private Attempt attempt(int from, int to) {
        return new Attempt(
                this.call,
                this.delivery,
                this.definition,
                this.candidates.subList(from, to),
                from,
                this.unrecordedCalls);
    }

    /**
     * The listener named the record that failed, so the error handler will commit the offsets of those before it. They
     * were rolled back with it; so they are processed now, by themselves. If that fails too, at none of them in
     * particular, each is processed by itself.
     */
    private Exception settleBefore(BatchFailure failure) {
        if (failure.position() < 0) {
            return failure.wholeBatch();
        }
        if (failure.position() == 0) {
            return named(0, failure.exception());
        }
        Attempt before = attempt(0, failure.position());
        try {
            before.execute();
            return this.delivery.isNacked()
                    ? named(before.firstPosition(), failure.exception())
                    : named(failure.position(), failure.exception());
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            BatchFailure earlier = BatchFailure.in(ex, this.delivery.records(), before.positions());
            if (earlier != null && earlier.position() >= 0) {
                return settleBefore(earlier);
            }
            settleEach(failure.position());
            return named(failure.position(), failure.exception());
        }
    }

    private Exception named(int position, BatchListenerFailedException failure) {
        return BatchFailure.at(this.delivery.records().get(position), failure.getMessage(), failure.getCause());
    }
}
