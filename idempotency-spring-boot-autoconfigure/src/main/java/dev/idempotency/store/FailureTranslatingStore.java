package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.StoreFailedException;
import dev.idempotency.failure.FatalErrors;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
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
        return attempt(() -> "claim " + claims.get(0).coordinates(), () -> this.store.claim(claims));
    }

    @Override
    public boolean holds(MessageId claimed) {
        return attempt(
                () -> "ask whether message '" + claimed.value() + "' is still claimed",
                () -> this.store.holds(claimed));
    }

    @Override
    public BooleanSupplier watchTransaction(String consumer) {
        BooleanSupplier watch =
                attempt(() -> "watch the listener's transaction", () -> this.store.watchTransaction(consumer));
        return () -> attempt(() -> "ask whether the listener's transaction still stands", watch::getAsBoolean);
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return attempt(() -> "look up messages that were processed before", () -> this.store.find(ids));
    }

    @Override
    public boolean hasProcessed(String consumer) {
        return attempt(
                () -> "ask whether consumer '" + consumer + "' has processed any message",
                () -> this.store.hasProcessed(consumer));
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

    /** Does work of the store; what it fails with is told apart from what a listener fails with. */
    static <T> T attempt(Supplier<String> task, Supplier<T> work) {
        try {
            return work.get();
        } catch (RuntimeException ex) {
            throw StoreExceptionTranslator.translate(task.get(), ex);
        } catch (Error ex) {
            FatalErrors.rethrow(ex);
            throw new StoreFailedException(
                    "Could not %s: %s. The message is not to blame, and comes again until it succeeds. Mend the store."
                            .formatted(task.get(), ex),
                    ex);
        }
    }
}
