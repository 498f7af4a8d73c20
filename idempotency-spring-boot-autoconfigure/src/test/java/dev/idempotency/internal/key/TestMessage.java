package dev.idempotency.internal.key;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** A message, and the arguments that a listener would be called with. */
record TestMessage(ConsumerRecord<?, ?> record, @Nullable Object payload, Object... arguments) implements MessageView {

    @Override
    public Object argument(int index) {
        return this.arguments[index];
    }
}
