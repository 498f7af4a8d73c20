package dev.idempotency.reconciliation;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A request for a {@link Reconciliation}.
 *
 * @param consumer whose records
 * @param since how far back they are looked at
 * @param replayFrom missing records that are not older than this are sent to their topic again; {@code null} to send none. Name
 *     a time since which the consumer has run with the library without interruption: records that were processed without it
 *     look as if they were missing, and would be applied twice
 */
public record ReconciliationRequest(
        String consumer, Duration since, @Nullable Instant replayFrom) {

    /** The longest time to look back for. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    public ReconciliationRequest {
        if (since.isNegative() || since.isZero() || since.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "A reconciliation looks back for more than nothing and at most %s, but not %s"
                            .formatted(LONGEST, since));
        }
    }

    /** Sends missing records that are not older than this to their topic again. */
    public ReconciliationRequest withReplayFrom(Instant time) {
        return new ReconciliationRequest(this.consumer, this.since, time);
    }

    /** One that only looks. */
    public static ReconciliationRequest of(String consumer, Duration since) {
        return new ReconciliationRequest(consumer, since, null);
    }
}
