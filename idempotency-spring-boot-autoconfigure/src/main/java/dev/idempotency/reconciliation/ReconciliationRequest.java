package dev.idempotency.reconciliation;

import java.time.Duration;

/**
 * What is to be reconciled.
 *
 * @param consumer whose records
 * @param since how far back they are looked at
 * @param replay whether those that are missing are sent to their topic again
 */
public record ReconciliationRequest(String consumer, Duration since, boolean replay) {

    /** The longest time to look back for. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    public ReconciliationRequest {
        if (since.isNegative() || since.isZero() || since.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "A reconciliation looks back for more than nothing and at most %s, but not %s"
                            .formatted(LONGEST, since));
        }
    }

    /** One that only looks. */
    public static ReconciliationRequest of(String consumer, Duration since) {
        return new ReconciliationRequest(consumer, since, false);
    }
}
