package dev.idempotency.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.key.OnMissingKey;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.result.KeptResults;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defaults of all listeners.
 *
 * @param store where claims are made
 * @param strategies creates the strategies with separate tables; {@code null} with a custom store
 * @param keyResolver who finds the key where there is no expression
 * @param onMissingKey what becomes of a message without a key
 * @param retention how long processed messages are remembered
 * @param conflicts how conflicts are handled
 * @param receivedBytes remembers received records
 * @param observers receive outcomes
 * @param outages receives commits, as an outage ends with one
 * @param inboxes stores messages; {@code null} with a custom store
 * @param results stores replies; {@code null} with a custom store
 * @param transactionPerPoll whether record listeners that can have it have one transaction per poll
 * @param claimAtCommit whether record listeners that gain by it claim with the commit
 */
public record ListenerDefaults(
        ProcessedMessageStore store,
        @Nullable JdbcStrategyFactory strategies,
        MessageKeyResolver keyResolver,
        OnMissingKey onMissingKey,
        Duration retention,
        OnConflict conflicts,
        DeserializerInstrumentation receivedBytes,
        List<IdempotencyObserver> observers,
        OutageRegistry outages,
        @Nullable InboxRecorderFactory inboxes,
        @Nullable KeptResults results,
        boolean transactionPerPoll,
        boolean claimAtCommit) {

    public ListenerDefaults {
        observers = List.copyOf(observers);
    }
}
