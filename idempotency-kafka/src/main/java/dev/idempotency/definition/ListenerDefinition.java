package dev.idempotency.definition;

import dev.idempotency.dedup.ClaimStrategy;
import dev.idempotency.observe.IdempotencyEventListener;
import dev.idempotency.store.ClaimedTransaction;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a listener from start-up on.
 *
 * @param transactions makes the transactions that it shares with its claims, with its own attributes
 * @param lock the lock that it takes for its messages; {@code null} if it takes none
 * @param inbox keeps its messages; {@code null} if they are not kept
 */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        InboundMessageFactory messageFactory,
        KeyFailures keyFailures,
        Supplier<ClaimedTransaction> transactions,
        ClaimStrategy strategy,
        ConflictHandling conflicts,
        @Nullable ListenerLock lock,
        @Nullable InboxRecorder inbox,
        IdempotencyEventListener observer) {

    /** Returns the variables of the converted message that identity and lock need; none if the record is enough. */
    public Set<String> variables() {
        Set<String> variables = this.messageFactory.variables();
        if (this.lock != null) {
            variables.addAll(this.lock.keys().source().variables());
        }
        return variables;
    }
}
