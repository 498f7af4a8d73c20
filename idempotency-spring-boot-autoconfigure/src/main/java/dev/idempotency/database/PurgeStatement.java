package dev.idempotency.database;

import java.time.Duration;
import java.time.Instant;
import org.springframework.jdbc.core.JdbcTemplate;

/** Deletes some messages of one consumer, oldest first. */
@FunctionalInterface
public interface PurgeStatement {

    /** How many pauses in a row, each longer than the age, a consumer may make without forgetting what came before. */
    int PAUSES = 3;

    /**
     * Never waits for another transaction: rows that one holds are left for the next time.
     *
     * @param jdbc runs statements, with a limit to their time, in a transaction of their own
     * @param request which messages, and how many at most
     * @return what was deleted
     */
    Purged execute(JdbcTemplate jdbc, Request request);

    /**
     * Which messages of a consumer are to be deleted.
     *
     * @param consumer the consumer
     * @param age how old they must be; what it is counted from is the statement's affair
     * @param from where to begin: what was processed before is passed over, so that a drain does not walk again over the
     *     rows it has just deleted
     * @param limit how many at most
     */
    record Request(String consumer, Duration age, Instant from, int limit) {

        public Request {
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

    /**
     * What was deleted.
     *
     * @param rows how many messages
     * @param upTo when the youngest of them was processed, or where the request began if there were none
     */
    record Purged(int rows, Instant upTo) {}
}
