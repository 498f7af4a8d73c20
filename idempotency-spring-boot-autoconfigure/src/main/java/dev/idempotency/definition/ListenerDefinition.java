package dev.idempotency.definition;

import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.AdmissionStrategy;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a listener from start-up on.
 *
 * @param consumer the name under which its messages are recorded
 * @param method the method of the user's class
 * @param candidates makes candidates of its messages
 * @param keyFailures what becomes of those that have none
 * @param transaction the transaction that it shares with its claims
 * @param strategy how its messages are recognised
 * @param conflicts what is done about those that have the id of another one
 * @param inbox keeps its messages; {@code null} if they are not kept
 * @param observer who hears of the outcome
 */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        CandidateFactory candidates,
        KeyFailures keyFailures,
        ListenerTransaction transaction,
        AdmissionStrategy strategy,
        ConflictHandling conflicts,
        @Nullable InboxRecorder inbox,
        ConsumerObserver observer) {}
