package dev.idempotency.internal.dedup;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Decides, in the listener's transaction, which messages the listener is called with. There is
 * one class for each {@link dev.idempotency.DeduplicationStrategy}.
 */
public interface ClaimStrategy {

    /** Refuses records of one delivery whose order would make a duplicate of one that has not been processed. */
    default void requireOrder(List<? extends ConsumerRecord<?, ?>> delivered) {}

    /**
     * Lets messages of a delivery in, which becomes binding when the current transaction commits. Waits for another one
     * that is about to process one of them, or throws a {@link dev.idempotency.ClaimTimeoutException}.
     */
    ClaimResult claim(List<InboundMessage> messages);

    /** Returns the strategy for a single message, whose transaction is its own or was there before. */
    default ClaimStrategy within(boolean ownTransaction) {
        return this;
    }

    /** Called as the last thing before the commit, which it may include, with the messages that were let in. */
    default void commit(List<InboundMessage> accepted) {}

    /** Whether letting in is a claim: a statement, whose time is measured. */
    default boolean isClaim() {
        return true;
    }

    /**
     * Whether a failure before the commit can have been in this transaction, not in another such as {@code
     * REQUIRES_NEW}; asked before it ends, for {@link #refusalOf}.
     */
    default boolean mayBeRefused() {
        return true;
    }

    /**
     * The answer, after the rollback, to a message whose failure shows that it is a duplicate; {@code null} otherwise.
     */
    default @Nullable ClaimResult refusalOf(InboundMessage message, Throwable failure) {
        return null;
    }
}
