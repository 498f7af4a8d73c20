package dev.idempotency.observe;

import java.time.Instant;

/**
 * A consumer that waits, as a whole or with some of its partitions.
 *
 * @param consumer the consumer's name
 * @param since when it began to wait
 * @param cause what it met with
 * @param awaited what it waits for
 */
public record ConsumerOutage(String consumer, Instant since, String cause, Awaited awaited) {

    public enum Awaited {

        /** An answer of the database. */
        DATABASE,

        /** An answer of the broker as to which topic its messages are from. */
        BROKER,

        /** A message with a key, as none had one so far. */
        KEYS,

        /** The publication of a dead letter. The message is not skipped, so its partition waits. */
        DEAD_LETTERS
    }
}
