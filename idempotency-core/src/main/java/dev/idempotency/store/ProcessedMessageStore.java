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
     * Claims messages in the current transaction, with the digests of their payloads. Waits for another transaction that
     * holds one of the claims: if it commits, the message is a duplicate; if it rolls back, the message is claimed here.
     *
     * @param claims claims of one consumer, with distinct ids
     * @return the ids that were free and are claimed now; the others have been processed before
     * @throws dev.idempotency.ClaimTimeoutException if that wait takes too long
     * @throws dev.idempotency.UnprotectedCallException if there is no transaction that the claim would be part of
     */
    Set<MessageId> claim(List<Claim> claims);

    /**
     * The same, with the originals of those that have been processed before. Called where duplicates are likely.
     *
     * @return by default, the answers of a claim and a look-up
     */
    default ClaimAnswer claimOrFind(List<Claim> claims) {
        return new ClaimAnswer(claim(claims)).complete(claims, this::findOriginals);
    }

    /**
     * Watches the current transaction, which databases end by themselves after some errors, even if these are caught.
     *
     * @return asked before the commit, once: whether the transaction still is the same one; by default, it is
     */
    default BooleanSupplier watchTransaction() {
        return () -> true;
    }

    /** Finds messages of one consumer that have been processed. */
    Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids);

    /**
     * Finds messages of one consumer whose claims in the current transaction were refused, also where that transaction sees
     * the database as it was before they were committed.
     *
     * @return by default, what {@link #find} says
     */
    default Map<MessageId, ProcessedMessage> findOriginals(Collection<MessageId> ids) {
        return find(ids);
    }

    /**
     * Whether any message of a consumer is known. While none is, messages without a key are not dead-lettered.
     *
     * @return by default, {@code true}
     */
    default boolean hasProcessed(String consumer) {
        return true;
    }

    /**
     * Returns the record of each partition that a consumer processed first. Reconciliation calls nothing before it missing.
     *
     * @return by default none, so that nothing is missing
     */
    default List<RecordCoordinates> firstRecords(String consumer) {
        return List.of();
    }

    /** Forgets a message, so that it can be processed again; returns whether it was known. */
    boolean forget(MessageId id);

    /**
     * Asked when a message fails again and again as if the database were away: whether the store takes a write, in a
     * separate transaction that is rolled back, within seconds.
     *
     * @return by default, {@code false}: the message is tried until it succeeds
     */
    default boolean takesWrites() {
        return false;
    }

    /**
     * Estimates how much is remembered; called once a minute, for gauges and reports.
     *
     * @param consumers consumers whose oldest message is asked for
     */
    default StoreStatistics statistics(Collection<String> consumers) {
        return StoreStatistics.UNKNOWN;
    }
}
