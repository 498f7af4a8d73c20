package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A message that can be processed once something else is repaired. The consumer waits: the message is redelivered until it
 * succeeds, no attempt is counted, and nothing is skipped.
 *
 * @see StoreFailedException
 */
@SuppressWarnings("serial")
public class ConsumerWaitingException extends IdempotencyException {

    private final Awaited awaited;

    public ConsumerWaitingException(Awaited awaited, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.awaited = awaited;
    }

    /** Returns the reason why the consumer waits. */
    public Awaited awaited() {
        return this.awaited;
    }

    /** Reasons why a consumer waits. */
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
