package dev.idempotency.internal.definition;

import dev.idempotency.MessageId;
import dev.idempotency.StepRunner;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.key.ExpressionKeySource;
import dev.idempotency.internal.key.MessageIdResolver;
import dev.idempotency.internal.key.MessageView;
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
    public record Lock(String consumer, ExpressionKeySource source, BusinessKeyLocks locks) {

        private static final String REMEDY = "Let its producer set one, or write an expression in"
                + " @IdempotentListener(lock = …) that is never empty.";

        /** The key that a message locks, which it must have: without one it would run beside others. */
        public String keyOf(MessageView message) {
            return MessageIdResolver.require("lock", message, this.consumer, this.source, REMEDY, () -> {
                String key = this.source.keyOf(message);
                return (key != null && !MessageId.isNoKey(key)) ? key : null;
            });
        }
    }

    /** Returns the variables of the converted message that identity and lock need; none if the record is enough. */
    public Set<String> variables() {
        Set<String> variables = this.messageFactory.variables();
        if (this.lock != null) {
            variables.addAll(this.lock.source().variables());
        }
        return variables;
    }
}
