package dev.idempotency.internal.definition;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Stores the messages of a listener, and whether they were processed, in the inbox. */
public interface InboxRecorder {

    /** A message that a listener was called with, and where its record stood first. */
    record Delivered(MessageId id, RecordCoordinates coordinates, ConsumerRecord<?, ?> record) {}

    /** The listener has returned: records that in its transaction, which is still to be committed. */
    void processed(List<Delivered> messages);

    /** The listener's transaction has been rolled back: records that in a separate one. Throws nothing. */
    void failed(List<Delivered> messages, Throwable failure);

    /** A message with the id of another one was not processed: stored under an id made of both. Throws nothing. */
    void conflicting(MessageId shared, RecordCoordinates coordinates, ConsumerRecord<?, ?> record, Throwable failure);

    @FunctionalInterface
    interface Factory {

        /** The recorder for a consumer's listeners of a container that has not been started. */
        InboxRecorder create(String consumer, AbstractMessageListenerContainer<?, ?> container);
    }
}
