package dev.idempotency.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.key.OnMissingKey;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.result.KeptResults;
import dev.idempotency.step.Steps;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defaults of all listeners. With a custom store there are no other strategies, inboxes, results or steps.
 *
 * @param keyResolver who finds the key where there is no expression
 * @param outages receives commits, as an outage ends with one
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
        @Nullable Steps steps,
        boolean transactionPerPoll,
        boolean claimAtCommit) {

    public ListenerDefaults {
        observers = List.copyOf(observers);
    }
}
