package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The store as a listener's transaction uses it, whosever it is: what it fails with is told apart from what the listener
 * fails with, so that no message is given up for it.
 *
 * @param store the store itself
 */
public record FailureTranslatingStore(ProcessedMessageStore store) implements ProcessedMessageStore {

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        return StoreExceptionTranslator.attempt(
                () -> "claim " + claims.get(0).coordinates(), () -> this.store.claim(claims));
    }

    @Override
    public ClaimAnswer claimOrFind(List<Claim> claims) {
        return StoreExceptionTranslator.attempt(
                () -> "claim " + claims.get(0).coordinates(), () -> this.store.claimOrFind(claims));
    }

    @Override
    public boolean holds(MessageId claimed) {
        return StoreExceptionTranslator.attempt(
                () -> "ask whether message '" + claimed.value() + "' is still claimed",
                () -> this.store.holds(claimed));
    }

    @Override
    public ClaimWatch watchClaim(MessageId claimed) {
        return watch(() -> this.store.watchClaim(claimed));
    }

    @Override
    public ClaimWatch watchTransaction(String consumer) {
        return watch(() -> this.store.watchTransaction(consumer));
    }

    private static ClaimWatch watch(Supplier<ClaimWatch> beginning) {
        ClaimWatch watch = StoreExceptionTranslator.attempt(() -> "watch the listener's transaction", beginning);
        return new ClaimWatch() {

            @Override
            public boolean getAsBoolean() {
                return StoreExceptionTranslator.attempt(
                        () -> "ask whether the listener's transaction still stands", watch::getAsBoolean);
            }

            @Override
            public boolean takeBackIfCommitted(Runnable claims) {
                return StoreExceptionTranslator.attempt(
                        () -> "look whether a listener's transaction that has failed was committed nevertheless",
                        () -> watch.takeBackIfCommitted(claims));
            }
        };
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return StoreExceptionTranslator.attempt(
                () -> "look up messages that were processed before", () -> this.store.find(ids));
    }

    @Override
    public Map<MessageId, ProcessedMessage> findOriginals(Collection<MessageId> ids) {
        return StoreExceptionTranslator.attempt(
                () -> "look up messages that were processed before", () -> this.store.findOriginals(ids));
    }

    @Override
    public boolean hasProcessed(String consumer) {
        return StoreExceptionTranslator.attempt(
                () -> "ask whether consumer '" + consumer + "' has processed any message",
                () -> this.store.hasProcessed(consumer));
    }

    @Override
    public List<RecordCoordinates> firstRecords(String consumer) {
        return this.store.firstRecords(consumer);
    }

    @Override
    public boolean forget(MessageId id) {
        return this.store.forget(id);
    }

    @Override
    public boolean takesWrites() {
        return this.store.takesWrites();
    }

    @Override
    public StoreStatistics statistics(Collection<String> consumers) {
        return this.store.statistics(consumers);
    }
}
