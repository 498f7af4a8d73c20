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
 * What holds for all listeners that do not say otherwise.
 *
 * @param store where claims are made
 * @param strategies who makes the strategies that have a table of their own; {@code null} if nobody can
 * @param keyResolver who finds the key where there is no expression
 * @param onMissingKey what becomes of a message without a key
 * @param retention how long processed messages are remembered
 * @param conflicts what is done about messages that have the id of another one
 * @param receivedBytes who remembers what was received
 * @param observers who hears of the outcome
 * @param outages who is told of commits, as an outage ends with one
 * @param inboxes who keeps messages; {@code null} if nobody can
 * @param results who keeps replies; {@code null} if nobody can
 * @param transactionPerPoll whether record listeners that can have it have one transaction per poll
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
        boolean transactionPerPoll) {

    public ListenerDefaults {
        observers = List.copyOf(observers);
    }
}
