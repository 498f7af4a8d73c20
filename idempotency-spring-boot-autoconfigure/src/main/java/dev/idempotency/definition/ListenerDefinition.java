package dev.idempotency.definition;

import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.ProcessedMessageStore;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a listener method from start-up on.
 *
 * @param consumer the name under which its messages are recorded
 * @param method the method of the user's class
 * @param arguments what its parameters are
 * @param ids who gives its messages their identity
 * @param keyFailures what becomes of those that have none
 * @param transaction the transaction that it shares with its claims
 * @param transactionPerPoll whether it is called record by record in one transaction for all records of a poll
 * @param targetSeen whether its calls are seen behind all aspects
 * @param store where claims are made
 * @param inbox where its messages are kept
 * @param observer who hears of the outcome
 */
public record ListenerDefinition(
        String consumer,
        Method method,
        ListenerArguments arguments,
        MessageIdResolver ids,
        KeyFailures keyFailures,
        ListenerTransaction transaction,
        boolean transactionPerPoll,
        boolean targetSeen,
        ProcessedMessageStore store,
        InboxRecorder inbox,
        ConsumerObserver observer) {

    /** What is returned in the place of a method that is not called. */
    @Nullable
    public Object resultWhenSkipped() {
        Class<?> type = this.method.getReturnType();
        return (type.isPrimitive() && type != void.class) ? Array.get(Array.newInstance(type, 1), 0) : null;
    }
}
