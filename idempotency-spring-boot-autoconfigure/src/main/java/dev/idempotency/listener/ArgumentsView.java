package dev.idempotency.listener;

import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.key.MessageView;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.messaging.Message;

/**
 * A message of a delivery, seen through the arguments that the listener is about to be called with.
 *
 * @param delivery what was delivered
 * @param position where in it the message stands
 * @param signature which of the arguments is what
 * @param arguments the arguments, for all messages of the delivery
 */
record ArgumentsView(
        Delivery delivery,
        int position,
        ListenerMethod signature,
        @Nullable Object[] arguments) implements MessageView {

    @Override
    public ConsumerRecord<?, ?> record() {
        return this.delivery.records().get(this.position);
    }

    @Override
    public @Nullable Object payload() {
        int index = this.signature.payloadIndex();
        return unwrap((index == ListenerMethod.NONE) ? record() : argument(index));
    }

    @Override
    public @Nullable Object argument(int index) {
        return this.delivery.isBatch()
                ? BatchArguments.element(
                        this.arguments[index],
                        this.position,
                        this.delivery.records().size())
                : this.arguments[index];
    }

    private static @Nullable Object unwrap(@Nullable Object payload) {
        Object content = payload;
        if (content instanceof ConsumerRecord<?, ?> record) {
            content = record.value();
        } else if (content instanceof Message<?> message) {
            content = message.getPayload();
        }
        return (content instanceof KafkaNull) ? null : content;
    }
}
