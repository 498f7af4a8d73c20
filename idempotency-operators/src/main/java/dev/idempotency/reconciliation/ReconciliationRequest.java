package dev.idempotency.reconciliation;

import java.time.Duration;

/**
 * A request for a {@link Reconciliation}.
 *
 * @param consumer whose records
 * @param since how far back they are looked at
 */
public record ReconciliationRequest(String consumer, Duration since) {

    /** The longest time to look back for. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    public ReconciliationRequest {
        if (since.isNegative() || since.isZero() || since.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "A reconciliation looks back for more than nothing and at most %s, but not %s"
                            .formatted(LONGEST, since));
        }
    }

    public static ReconciliationRequest of(String consumer, Duration since) {
        return new ReconciliationRequest(consumer, since);
    }
}
