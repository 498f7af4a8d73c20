package dev.idempotency.internal.key;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** One message of a delivery: its record, and what the listener is about to receive of it. */
public interface MessageView {

    /** The record that the listener is called with. */
    ConsumerRecord<?, ?> record();

    /** The payload after conversion, or the record's value where the listener takes no payload. */
    @Nullable
    Object payload();

    /** The listener's argument at that position; of a list with one element a message, this message's element. */
    @Nullable
    Object argument(int index);
}
