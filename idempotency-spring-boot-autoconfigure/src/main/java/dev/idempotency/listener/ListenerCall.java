package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a listener is called with messages of a delivery. */
interface ListenerCall {

    Delivery delivery();

    ListenerDefinition definition();

    /**
     * Looks whether keys can be found at all.
     *
     * @throws dev.idempotency.UnprotectedListenerException if they cannot, which is the fault of no message
     */
    default void requireKeys() {}

    /** The message at a position of the delivery, for its key to be found. */
    MessageView view(int position);

    /**
     * Calls the listener with some messages of the delivery.
     *
     * @param admitted the new ones, in order
     * @return what the listener returns
     */
    @Nullable
    Object call(List<Candidate> admitted) throws Throwable;

    /** Returns the kept reply to these messages, which are duplicates, or {@code null}. */
    default @Nullable Object replyAgain(List<Candidate> duplicates) {
        return null;
    }
}
