package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Knows which messages have been processed.
 *
 * <p>Its methods take sets of messages; a single one is a set of one. Define a bean of this type to replace the one that
 * uses JDBC.
 */
public interface ProcessedMessageStore {

    /**
     * Claims messages in the current transaction; the claims take effect when it commits. A store that can keeps the digests
     * of payloads with the claims.
     *
     * <p>Waits for another transaction that holds one of the claims: if it commits, the message is a duplicate; if it
     * rolls back, the message is claimed here.
     *
     * @param claims claims of one consumer, with distinct ids
     * @return the ids that were free and are claimed now; the others have been processed before
     * @throws dev.idempotency.ClaimTimeoutException if that wait takes too long
     * @throws dev.idempotency.UnprotectedListenerException if there is no transaction that the claim would be part of
     */
    Set<MessageId> claim(List<Claim> claims);

    /**
     * The same, with what is known of those that have been processed before. Called where duplicates are likely, so that a
     * store which can answer both with one statement needs no second one.
     *
     * @param claims claims of one consumer, with distinct ids
     * @return the ids that are claimed now, and the originals of the others; by default, after a claim and a look-up
     */
    default ClaimAnswer claimOrFind(List<Claim> claims) {
        return new ClaimAnswer(claim(claims)).complete(claims, this::findOriginals);
    }

    /**
     * Watches the current transaction, which databases end by themselves after some errors, whether or not the listener
     * catches them.
     *
     * @return asked before the commit, once: whether the transaction still is the same one. By default, that it is
     */
    default BooleanSupplier watchTransaction() {
        return () -> true;
    }

    /**
     * Finds what is known of messages that have been processed.
     *
     * @param ids ids of one consumer
     * @return those that are known
     */
    Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids);

    /**
     * Finds the messages for which claims of the current transaction were refused, also where that transaction sees the
     * database as it was before they were committed.
     *
     * @param ids ids of one consumer
     * @return those that are known; by default, what {@link #find} says
     */
    default Map<MessageId, ProcessedMessage> findOriginals(Collection<MessageId> ids) {
        return find(ids);
    }

    /**
     * Says whether any message of a consumer is known. While it is not, messages without a key are not dead-lettered.
     *
     * @param consumer the consumer's name
     * @return by default, that there is one
     */
    default boolean hasProcessed(String consumer) {
        return true;
    }

    /**
     * Returns the record of each partition that was processed first. Reconciliation calls nothing before it missing.
     *
     * @param consumer the consumer's name
     * @return a record for each partition of which one is remembered; by default none, so that nothing is missing
     */
    default List<RecordCoordinates> firstRecords(String consumer) {
        return List.of();
    }

    /**
     * Forgets a message, so that it can be processed again.
     *
     * @param id the message
     * @return whether it had been known
     */
    boolean forget(MessageId id);

    /**
     * Asked when a message fails again and again as if the database were away: whether the store answers and takes a
     * write, in a transaction of its own that is undone, within seconds.
     *
     * @return by default, that this is not known: the message is tried until it succeeds
     */
    default boolean takesWrites() {
        return false;
    }

    /**
     * Says how much is remembered, without reading it: asked once a minute, for gauges and reports.
     *
     * @param consumers consumers whose oldest message is asked for
     * @return what is known; by default, nothing
     */
    default StoreStatistics statistics(Collection<String> consumers) {
        return StoreStatistics.UNKNOWN;
    }
}
