package dev.idempotency.internal.definition;

import dev.idempotency.StepRunner;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.key.LockKeyResolver;
import dev.idempotency.internal.lock.BusinessKeyLocks;
import dev.idempotency.internal.store.ClaimedTransaction;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All that is known of a listener from start-up on; lock and inbox are {@code null} if it has none. */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        InboundMessageFactory messageFactory,
        KeyFailures keyFailures,
        Supplier<ClaimedTransaction> transactions,
        ClaimStrategy strategy,
        ConflictHandling conflicts,
        @Nullable Lock lock,
        StepRunner steps,
        @Nullable InboxRecorder inbox,
        IdempotencyEventListener observer) {

    /** Which keys the messages of a listener lock, and where. */
    public record Lock(LockKeyResolver keys, BusinessKeyLocks locks) {}

    /** Returns the variables of the converted message that identity and lock need; none if the record is enough. */
    public Set<String> variables() {
        Set<String> variables = this.messageFactory.variables();
        if (this.lock != null) {
            variables.addAll(this.lock.keys().source().variables());
        }
        return variables;
    }
}
