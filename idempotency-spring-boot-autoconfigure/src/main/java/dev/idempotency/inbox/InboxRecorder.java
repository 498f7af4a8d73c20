package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** Keeps the messages of listeners, and what becomes of them. */
public interface InboxRecorder {

    /** For listeners without an inbox. */
    InboxRecorder NONE = new InboxRecorder() {

        @Override
        public StartedCalls starting(
                List<? extends ConsumerRecord<?, ?>> records, IntFunction<@Nullable MessageId> ids) {
            return StartedCalls.UNCOUNTED;
        }

        @Override
        public void processed(List<DeliveredMessage> messages) {}

        @Override
        public void failed(List<DeliveredMessage> messages, Throwable failure) {}
    };

    /**
     * A listener is about to be called: counts that, in a transaction of its own, for messages that may end the process.
     *
     * @param records what was delivered
     * @param ids the ids of the messages by their position
     * @return what is to be told when the calls have ended
     */
    StartedCalls starting(List<? extends ConsumerRecord<?, ?>> records, IntFunction<@Nullable MessageId> ids);

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
