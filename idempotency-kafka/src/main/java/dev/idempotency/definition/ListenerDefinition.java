package dev.idempotency.definition;

import dev.idempotency.StepRunner;
import dev.idempotency.dedup.ClaimStrategy;
import dev.idempotency.observe.IdempotencyEventListener;
import dev.idempotency.store.ClaimedTransaction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All that is known of a listener from start-up on; the inbox is {@code null} if its messages are not kept. */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        InboundMessageFactory messageFactory,
        KeyFailures keyFailures,
        Supplier<ClaimedTransaction> transactions,
        ClaimStrategy strategy,
        ConflictHandling conflicts,
        StepRunner steps,
        @Nullable InboxRecorder inbox,
        IdempotencyEventListener observer) {}
