package dev.idempotency.definition;

import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.ClaimedTransaction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a listener from start-up on.
 *
 * @param consumer the name under which its messages are recorded
 * @param method the method of the user's class
 * @param candidates makes candidates of its messages
 * @param keyFailures what becomes of those that have none
 * @param transactions makes the transactions that it shares with its claims, with its own attributes
 * @param strategy how its messages are recognised
 * @param conflicts handles messages that have the id of another one
 * @param inbox keeps its messages; {@code null} if they are not kept
 * @param observer receives the outcome
 */
public record ListenerDefinition(
        String consumer,
        ListenerMethod method,
        CandidateFactory candidates,
        KeyFailures keyFailures,
        Supplier<ClaimedTransaction> transactions,
        AdmissionStrategy strategy,
        ConflictHandling conflicts,
        @Nullable InboxRecorder inbox,
        ConsumerObserver observer) {}
