package dev.idempotency.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.OnMissingKey;
import dev.idempotency.dedup.JdbcStrategyFactory;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.observe.IdempotencyEventListener;
import dev.idempotency.result.ResultStore;
import dev.idempotency.step.Steps;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defaults of all listeners. With a custom store there are no other strategies, inboxes, results or steps.
 *
 * @param keyResolver who finds the key where there is no expression
 * @param outages receives commits, as an outage ends with one
 * @param inboxes {@code null} also if the operators' module is not on the class path
 * @param inboxByDefault whether listeners have an inbox unless they say otherwise
 * @param transactionPerPoll whether record listeners that can have it have one transaction per poll
 * @param claimAtCommit whether record listeners that gain by it claim with the commit
 */
public record ListenerDefaults(
        ProcessedMessageStore store,
        @Nullable JdbcStrategyFactory strategies,
        MessageKeyResolver keyResolver,
        OnMissingKey onMissingKey,
        Duration retention,
        OnConflict onConflict,
        DeserializerInstrumentation receivedBytes,
        List<IdempotencyEventListener> observers,
        OutageRegistry outages,
        InboxRecorder.@Nullable Factory inboxes,
        boolean inboxByDefault,
        @Nullable ResultStore results,
        @Nullable Steps steps,
        boolean transactionPerPoll,
        boolean claimAtCommit) {

    public ListenerDefaults {
        observers = List.copyOf(observers);
    }
}
