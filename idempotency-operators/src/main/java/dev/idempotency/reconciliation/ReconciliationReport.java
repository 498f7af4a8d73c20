package dev.idempotency.reconciliation;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The progress or result of a {@link Reconciliation}. Its parts are the properties of a flat JSON object.
 *
 * @param since how far it looks back
 * @param replayFrom it sends again missing records that are not older than this; {@code null} if it sends none
 * @param records how many records there are to look at, about: holes, as compaction and transactions leave them, are among them
 * @param share the share of them that has been looked at, up to 1
 * @param read how many records were read
 * @param fates how many of those had which fate; the sum is what was read
 * @param judgedFrom by partition, the first offset from which a record that is not found counts as missing: where the
 *     consumer's knowledge begins; {@code null} where it remembers no record of the partition
 * @param missing the first thousand that are missing
 * @param refused how many the broker or the producer refused
 * @param failure why it ended early, or why the first that was refused was; {@code null} otherwise
 */
public record ReconciliationReport(
        String consumer,
        Duration since,
        @Nullable Instant replayFrom,
        JobState state,
        Instant startedAt,
        Duration took,
        long records,
        double share,
        long read,
        Map<ReconciliationOutcome, Long> fates,
        Map<String, @Nullable Long> judgedFrom,
        List<MissingMessage> missing,
        long replayed,
        long refused,
        @Nullable String failure) {

    /** How many records had that fate. */
    public long count(ReconciliationOutcome fate) {
        return this.fates.getOrDefault(fate, 0L);
    }

    /** A message that should be remembered, and is not. */
    public record MissingMessage(RecordCoordinates record, String messageId) {}
}
