package dev.idempotency.definition;

import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.ProcessedMessageStore;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a listener from start-up on.
 *
 * @param consumer the name under which its messages are recorded
 * @param method the method of the user's class
 * @param ids who gives its messages their identity
 * @param keyFailures what becomes of those that have none
 * @param transaction the transaction that it shares with its claims
 * @param store where claims are made
 * @param inbox keeps its messages; {@code null} if they are not kept
 * @param observer who hears of the outcome
 */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        MessageIdResolver ids,
        KeyFailures keyFailures,
        ListenerTransaction transaction,
        ProcessedMessageStore store,
        @Nullable InboxRecorder inbox,
        ConsumerObserver observer) {

    /**
     * Why its topics cannot be held against what is remembered of its messages, or {@code null} if they can: each message has
     * an id of its own that is remembered.
     */
    public @Nullable String reconciliationRefusal() {
        return null;
    }
}
