package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.JobState;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The progress or result of a redrive of {@link DeadLetters}. Its parts are the properties of a flat JSON object.
 *
 * @param records how many records there are to look at, approximately: records of other consumers and holes are included
 * @param read how many of them have been looked at
 * @param exhausted how many stay, as they were sent back too often
 * @param expired how many stay, as they are older than the consumer's retention and may have been processed since
 * @param unroutable how many stay, as they do not lead back to a topic that the consumer reads
 * @param refused how many the brokers or the producer refused; they stay pending
 * @param refusals the first of these
 */
public record RedriveReport(
        String consumer,
        String selection,
        JobState state,
        Instant startedAt,
        @Nullable Instant endedAt,
        long records,
        long read,
        long sent,
        long exhausted,
        long expired,
        long unroutable,
        long refused,
        List<Refusal> refusals,
        @Nullable String failure) {

    /** A dead letter that was not sent back, and why. */
    public record Refusal(RecordCoordinates record, String reason) {}
}
