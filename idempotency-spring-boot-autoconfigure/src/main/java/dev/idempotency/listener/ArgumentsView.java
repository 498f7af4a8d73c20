package dev.idempotency.listener;

import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.key.MessageView;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.messaging.Message;

/**
 * A message seen through the arguments that a listener is about to be called with, or would be.
 *
 * @param method the listener's method
 * @param records the records that it is called with
 * @param batch whether its arguments are lists of them
 * @param arguments its arguments, not asked for before they are needed
 * @param position which of the records
 */
record ArgumentsView(
        ListenerMethod method,
        List<? extends ConsumerRecord<?, ?>> records,
        boolean batch,
        Supplier<@Nullable Object[]> arguments,
        int position)
        implements MessageView {

    @Override
    public ConsumerRecord<?, ?> record() {
        return this.records.get(this.position);
    }

    @Override
    public @Nullable Object payload() {
        int index = this.method.payloadIndex();
        Object content = (index == ListenerMethod.NONE) ? record() : argument(index);
        if (content instanceof ConsumerRecord<?, ?> record) {
            content = record.value();
        } else if (content instanceof Message<?> message) {
            content = message.getPayload();
        }
        return (content instanceof KafkaNull) ? null : content;
    }

    @Override
    public @Nullable Object argument(int index) {
        Object argument = this.arguments.get()[index];
        return this.batch ? BatchArguments.element(argument, this.position, this.records.size()) : argument;
    }
}
