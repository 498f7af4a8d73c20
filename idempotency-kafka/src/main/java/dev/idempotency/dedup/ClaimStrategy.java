package dev.idempotency.dedup;

import dev.idempotency.RecordCoordinates;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides, in the listener's transaction, which messages the listener is called with. There is
 * one class for each {@link dev.idempotency.DeduplicationStrategy}.
 */
public interface ClaimStrategy {

    /** Refuses records of one delivery whose order would make a duplicate of one that has not been processed. */
    default void requireOrder(Stream<RecordCoordinates> delivered) {}

    /**
     * Lets messages in, which becomes binding when the current transaction commits. Waits for another transaction that is
     * about to process one of them.
     *
     * @param messages messages of one delivery, in order; at least one
     * @throws dev.idempotency.ClaimTimeoutException if that wait takes too long
     * @throws dev.idempotency.UnprotectedCallException if there is no transaction that the claim would be part of
     */
    ClaimResult claim(List<InboundMessage> messages);

    /**
     * The strategy for one delivery of a single message.
     *
     * @param ownTransaction whether the current transaction was begun for it, and ends with it
     */
    default ClaimStrategy within(boolean ownTransaction) {
        return this;
    }

    /** Called as the last thing before the commit, which it may include, with the messages that were let in. */
    default void commit(List<InboundMessage> accepted) {}

    /** Whether letting in is a claim: a statement, whose time is measured. */
    default boolean isClaim() {
        return true;
    }

    /**
     * Asked when something has failed before the commit, as long as the transaction has not ended: whether that can have been
     * in this transaction, rather than in another one such as {@code REQUIRES_NEW}, so that {@link #refusalOf} is asked later.
     *
     * @return by default, that it can
     */
    default boolean mayBeRefused() {
        return true;
    }

    /**
     * The answer after a failure, of the listener or of the commit, that shows that the message may not enter after all. Asked
     * when its transaction, in which it was the only one, has been rolled back.
     *
     * @return {@code null} if it has failed, by default
     */
    default @Nullable ClaimResult refusalOf(InboundMessage message, Throwable failure) {
        return null;
    }
}
