package dev.idempotency.event;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Listens to the events of this library: outcomes of messages, waiting consumers, and runs of the cleanup, the inbox and
 * reconciliations. Define beans of this type, and implement the methods that you need.
 *
 * <p>Outcomes are reported after the transaction has ended. An exception of a listener is logged, and otherwise ignored.
 */
public interface IdempotencyEventListener {

    IdempotencyEventListener NO_OP = new IdempotencyEventListener() {};

    /** Creates a listener that has another listener for each consumer. */
    static IdempotencyEventListener perConsumer(Function<ConsumerDescription, IdempotencyEventListener> listeners) {
        return new IdempotencyEventListener() {

            @Override
            public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
                return listeners.apply(consumer);
            }
        };
    }

    /** Returns the listener to the events of one consumer, by default this one; called once per consumer, at start-up. */
    default IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        return this;
    }

    /** Messages are delivered, for the first time or again; the oldest was written at this time. */
    default void delivered(Instant oldest) {}

    /** A claim has been answered: how many messages were free, how many were not, and how long it took. */
    default void claimAnswered(int claimed, int duplicates, long nanos) {}

    /** A claim has not been answered: it waited too long for another transaction, or the database failed. */
    default void claimFailed(RuntimeException reason, long nanos) {}

    /** So long a listener has waited for the lock of a business key, in vain or not. */
    default void lockWaited(long nanos) {}

    /** A message's effects have been committed. */
    default void processed(MessageId id, RecordCoordinates coordinates) {}

    /** A message was dropped. */
    default void duplicate(Duplicate duplicate) {}

    /**
     * A message has the id of another one, and another payload: it was dropped, and reported as a {@link #duplicate}, too,
     * or it {@link #failed}.
     */
    default void conflict(Conflict conflict) {}

    /** A message was dropped, as a newer version of its entity had been processed. */
    default void stale(Stale stale) {}

    /** A message has no usable key: it failed, was skipped, or was processed without deduplication. */
    default void missingKey(RecordCoordinates coordinates) {}

    /**
     * The position of a partition no longer held for what is in it, and was reset: the topic had been deleted and created
     * again, or its log ended before. What comes from this record on is processed.
     */
    default void positionReset(RecordCoordinates first) {}

    /**
     * A message was rolled back; it is redelivered or goes to the recoverer.
     *
     * @param failure why, or {@code null} for a claim from code whose transaction ended elsewhere
     */
    default void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {}

    /** A step of a message was taken; reported at once, whatever becomes of the message. */
    default void step(MessageId id, String name, StepOutcome outcome) {}

    /** A transaction in which the listener ran has taken this long, from its claim to its commit. */
    default void committed(long nanos) {}

    /** Messages that failed are redelivered. */
    default void retried(int messages) {}

    /** A message has been published to a dead-letter topic, by the provided error handler or by retry topics. */
    default void deadLettered(RecordCoordinates coordinates) {}

    /** So many partitions wait now, as a message in each can neither be processed nor dead-lettered. */
    default void deadLettersRefused(int partitions) {}

    /** The consumer has begun to wait for the database; it consumes nothing until it has succeeded. */
    default void outageBegan(Throwable cause) {}

    /** The consumer no longer waits for the database, for which it has waited this long. */
    default void outageEnded(long nanos) {}

    /** The cleanup has run, or has failed and will try again. Not an event of a single consumer. */
    default void cleanupRan(CleanupRun run) {}

    /** A message of the inbox was sent to its topic again. Not called on listeners {@link #forConsumer}. */
    default void replayed(MessageId id) {}

    /** Messages of a consumer failed, and the inbox could not record that. Not called on listeners {@link #forConsumer}. */
    default void unrecorded(String consumer, RuntimeException reason) {}

    /** A reconciliation has ended, in whatever state. Not called on listeners {@link #forConsumer}. */
    default void reconciled(Reconciled result) {}
}
