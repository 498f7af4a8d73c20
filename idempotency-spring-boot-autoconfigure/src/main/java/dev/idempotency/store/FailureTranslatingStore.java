package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Marks the failures of any store as such, so that no message is dead-lettered for them. */
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
    public BooleanSupplier watchTransaction() {
        BooleanSupplier held = StoreExceptionTranslator.attempt(
                () -> "watch the listener's transaction", this.store::watchTransaction);
        return () -> StoreExceptionTranslator.attempt(
                () -> "ask whether the listener's transaction still stands", held::getAsBoolean);
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
