package dev.idempotency.inbox;

import dev.idempotency.MessageId;

/**
 * Is notified of replays, and of failures that could not be recorded.
 *
 * <p>Define beans of this type. Exceptions of an observer are logged and ignored.
 */
public interface InboxObserver {

    /** A message was sent to its topic again. */
    void replayed(MessageId id);

    /** Messages of a consumer failed, and that could not be recorded. */
    void unrecorded(String consumer, RuntimeException reason);
}
