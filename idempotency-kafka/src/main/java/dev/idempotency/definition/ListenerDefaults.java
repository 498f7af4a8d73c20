package dev.idempotency.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.OnMissingKey;
import dev.idempotency.dedup.JdbcStrategyFactory;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.lock.BusinessKeyLocks;
import dev.idempotency.observe.IdempotencyEventListener;
import dev.idempotency.result.ResultStore;
import dev.idempotency.step.Steps;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defaults of all listeners. With a custom store there are no other strategies, inboxes, results, locks or steps; without the
 * operators' module there are no inboxes.
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
        @Nullable BusinessKeyLocks locks,
        @Nullable Steps steps,
        boolean transactionPerPoll,
        boolean claimAtCommit) {

    public ListenerDefaults {
        observers = List.copyOf(observers);
    }
}
