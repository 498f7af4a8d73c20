package dev.idempotency.listener;

import dev.idempotency.MixedVersionsException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.NamedFailure;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

/**
 * A batch of which the listener says that one message failed.
 *
 * @param candidate that message, or {@code null} if the exception names none that the listener was called with
 * @param exception what the listener threw to say so
 */
record BatchFailure(@Nullable Candidate candidate, BatchListenerFailedException exception) {

    /** What a failure says of the messages that the listener was called with, or {@code null} if it names no record. */
    static @Nullable BatchFailure in(Throwable thrown, List<Candidate> called) {
        if (thrown instanceof MixedVersionsException mixed) {
            return ofRefused(mixed, called);
        }
        BatchListenerFailedException failed = NamedFailure.in(thrown);
        return (failed != null) ? new BatchFailure(candidate(failed, called), failed) : null;
    }

    /** The claim itself was refused for one message, before the listener was called. */
    private static @Nullable BatchFailure ofRefused(MixedVersionsException refused, List<Candidate> claimed) {
        Candidate candidate = candidateAt(refused.coordinates(), claimed);
        return (candidate != null)
                ? new BatchFailure(
                        candidate,
                        new BatchListenerFailedException(
                                String.valueOf(refused.getMessage()), refused, candidate.record()))
                : null;
    }

    private static @Nullable Candidate candidate(BatchListenerFailedException failed, List<Candidate> called) {
        ConsumerRecord<?, ?> failedRecord = failed.getRecord();
        if (failedRecord == null) {
            int index = failed.getIndex();
            return (index >= 0 && index < called.size()) ? called.get(index) : null;
        }
        return candidateAt(RecordCoordinates.of(failedRecord), called);
    }

    private static @Nullable Candidate candidateAt(RecordCoordinates where, List<Candidate> candidates) {
        return candidates.stream()
                .filter(candidate -> RecordCoordinates.of(candidate.record()).equals(where))
                .findFirst()
                .orElse(null);
    }

    /** Whether it failed at the first message that the listener was called with. */
    boolean isFirstOf(List<Candidate> called) {
        return this.candidate != null && !called.isEmpty() && this.candidate == called.get(0);
    }

    /** All before the message are done, and it is not; or, if none is named, nothing is done, and all come again. */
    RuntimeException forErrorHandler() {
        return (this.candidate != null)
                ? NamedFailure.at(this.candidate.record(), this.exception.getMessage(), this.exception.getCause())
                : NamedFailure.wholeBatch(this.exception);
    }
}
