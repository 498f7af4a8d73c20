package dev.idempotency.inbox;

import dev.idempotency.MessageId;

/**
 * Hears of the inbox.
 *
 * <p>Define beans of this type to hear of it, too. What an observer throws is logged and goes no further.
 */
public interface InboxObserver {

    /** A message was sent to its topic again. */
    void replayed(MessageId id);

    /** Messages of a consumer failed, and that could not be recorded. */
    void unrecorded(String consumer, RuntimeException reason);
}
