package dev.idempotency.internal.definition;

import dev.idempotency.IdempotencyContext.StepRunner;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.ClaimedTransaction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All that is known of a listener from start-up on; locks, steps and inbox are {@code null} if it has none. */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        InboundMessageFactory messageFactory,
        KeyFailures keyFailures,
        Supplier<ClaimedTransaction> transactions,
        ClaimStrategy strategy,
        ConflictHandling conflicts,
        @Nullable BusinessKeyLocks locks,
        @Nullable StepRunner steps,
        @Nullable InboxRecorder inbox,
        IdempotencyEventListener observer) {

    @Override
    public String toString() {
        return "%s of consumer '%s'".formatted(this.method, this.consumer);
    }
}
