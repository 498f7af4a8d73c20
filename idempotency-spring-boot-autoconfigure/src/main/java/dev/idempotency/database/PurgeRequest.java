package dev.idempotency.database;

import java.time.Duration;
import java.time.Instant;

/**
 * Which messages of a consumer are to be deleted.
 *
 * @param consumer the consumer
 * @param age how old they must be; what it is counted from is the statement's affair
 * @param from where to begin: what was processed before is passed over, so that a drain does not walk again over the
 *     rows it has just deleted
 * @param limit how many at most
 */
public record PurgeRequest(String consumer, Duration age, Instant from, int limit) {

    /** How many pauses in a row, each longer than the age, a consumer may make without forgetting what came before. */
    public static final int PAUSES = 3;

    public PurgeRequest {
        if (RetentionLimit.isExceededBy(age)) {
            age = RetentionLimit.LONGEST;
        }
        if (age.isNegative() || age.isZero()) {
            throw new IllegalArgumentException("The age of what is forgotten must be positive, but is " + age);
        }
        if (limit < 1) {
            throw new IllegalArgumentException("At least one message can be forgotten, but the limit is " + limit);
        }
    }
}
