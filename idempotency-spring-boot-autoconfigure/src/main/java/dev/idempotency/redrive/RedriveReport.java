package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The progress or result of a redrive. Its parts are the properties of a flat JSON object.
 *
 * @param consumer whose dead letters are sent back
 * @param selection which of them
 * @param state its state
 * @param startedAt when it began, by the clock of this instance
 * @param endedAt when it ended; {@code null} while it runs
 * @param records how many records there are to look at, about: those of other consumers and holes are among them
 * @param read how many of them have been looked at
 * @param sent how many dead letters were sent back
 * @param parked how many stay, as they were sent back too often
 * @param expired how many stay, as they are older than the consumer's retention and may have been processed since
 * @param astray how many stay, as they do not lead back to a topic that the consumer reads
 * @param refused how many the brokers or the producer refused, each for reasons of its own; they stay pending
 * @param refusals the first of these
 * @param groups all groups that read the topics, and so see what is sent there; {@code null} if the brokers do not say
 * @param failure why it ended early, or {@code null}
 */
public record RedriveReport(
        String consumer,
        String selection,
        State state,
        Instant startedAt,
        @Nullable Instant endedAt,
        long records,
        long read,
        long sent,
        long parked,
        long expired,
        long astray,
        long refused,
        List<Refusal> refusals,
        @Nullable Set<String> groups,
        @Nullable String failure) {

    /** The state of a redrive. */
    public enum State {
        RUNNING,
        COMPLETED,
        CANCELLED,
        FAILED
    }

    /** A dead letter that was not sent back, and why. */
    public record Refusal(RecordCoordinates record, String reason) {}
}
