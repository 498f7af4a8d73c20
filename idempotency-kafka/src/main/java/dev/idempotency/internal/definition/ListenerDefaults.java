package dev.idempotency.internal.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.OnMissingKey;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.dedup.JdbcStrategyFactory;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.key.MessageKeyResolver;
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
        boolean claimAtCommit) {}
