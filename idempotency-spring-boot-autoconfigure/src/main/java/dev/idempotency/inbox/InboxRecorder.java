package dev.idempotency.inbox;

import java.util.List;

/** Keeps the messages of listeners, and what becomes of them. */
public interface InboxRecorder {

    /** For listeners without an inbox. */
    InboxRecorder NONE = new InboxRecorder() {

        @Override
        public void processed(List<DeliveredMessage> messages) {}

        @Override
        public void failed(List<DeliveredMessage> messages, Throwable failure) {}
    };

    /**
     * The listener has returned: records that in its transaction, which is still to be committed.
     *
     * @param messages messages of one consumer
     */
    void processed(List<DeliveredMessage> messages);

    /**
     * The listener's transaction has been rolled back: records that in a transaction of its own. Throws nothing: if it
     * cannot be recorded, the messages fare as they would have.
     *
     * @param messages messages of one consumer
     * @param failure why
     */
    void failed(List<DeliveredMessage> messages, Throwable failure);
}
