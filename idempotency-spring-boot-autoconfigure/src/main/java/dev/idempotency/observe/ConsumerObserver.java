package dev.idempotency.observe;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;

/**
 * Hears what becomes of one consumer's messages.
 *
 * <p>Outcomes are told after the transaction has ended, so that what was rolled back is never told as processed. What an
 * observer throws is logged and goes no further.
 */
public interface ConsumerObserver {

    /** Hears nothing. */
    ConsumerObserver NO_OP = new ConsumerObserver() {};

    /** A claim has been answered: how many messages were free, how many were not, and how long it took. */
    default void claimAnswered(int claimed, int duplicates, long nanos) {}

    /** A claim has not been answered: it waited too long for another transaction, or the database failed. */
    default void claimFailed(RuntimeException reason, long nanos) {}

    /** A message's effects have been committed. */
    default void processed(MessageId id, RecordCoordinates coordinates) {}

    /** A message was dropped. */
    default void duplicate(Duplicate duplicate) {}

    /**
     * A message has the id of another one, and another payload: it was dropped, of which {@link #duplicate} is told, too, or
     * it {@link #failed}.
     */
    default void conflict(Conflict conflict) {}

    /** A message was dropped, as a newer version of its entity had been processed. */
    default void stale(Stale stale) {}

    /** A message has no usable key: it failed, or was processed without deduplication. */
    default void missingKey(RecordCoordinates coordinates) {}

    /**
     * The position of a partition no longer held for what is in it, and was reset: the topic had been deleted and created
     * again, or its log ended before. What comes from this record on is processed.
     */
    default void positionReset(RecordCoordinates first) {}

    /** Messages were rolled back, and come again or go to the recoverer. */
    default void failed(int messages) {}

    /** A transaction in which the listener ran has taken this long, from its claim to its commit. */
    default void committed(long nanos) {}

    /** Messages that failed come again, or have been given to the listener again. */
    default void retried(int messages) {}

    /** A message that failed for good has been published to the dead-letter topic of its topic. */
    default void deadLettered(RecordCoordinates coordinates) {}

    /** The consumer has begun to wait for the database; it consumes nothing until it has succeeded. */
    default void outageBegan(Throwable cause) {}

    /** The consumer no longer waits for the database, for which it has waited this long. */
    default void outageEnded(long nanos) {}
}
