package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.messaging.Message;

/** The container's own call of the listener; of a batch, with the arguments narrowed to the messages that may enter. */
record MethodCall(MethodInvocation invocation, Delivery delivery, ListenerDefinition definition)
        implements ListenerCall {

    @Override
    public MessageView view(int position) {
        return new ArgumentsView(this, position);
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        return this.delivery.call(this.definition, this.delivery.isBatch() ? narrow(admitted) : this.invocation);
    }

    private MethodInvocation narrow(List<Candidate> admitted) {
        int[] positions = admitted.stream().mapToInt(Candidate::position).toArray();
        @Nullable Object[] arguments = this.invocation.getArguments();
        if (positions.length < this.delivery.records().size()) {
            arguments = new BatchArguments(this.delivery.records(), positions).filter(arguments);
        }
        this.delivery.narrow(positions);
        return ((ProxyMethodInvocation) this.invocation).invocableClone(arguments);
    }

    /** A message of the delivery, seen through the arguments that the listener is about to be called with. */
    private record ArgumentsView(MethodCall call, int position) implements MessageView {

        @Override
        public ConsumerRecord<?, ?> record() {
            return this.call.delivery.records().get(this.position);
        }

        @Override
        public @Nullable Object payload() {
            int index = this.call.definition.method().payloadIndex();
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
            Object argument = this.call.invocation.getArguments()[index];
            Delivery delivery = this.call.delivery;
            return delivery.isBatch()
                    ? BatchArguments.element(
                            argument, this.position, delivery.records().size())
                    : argument;
        }
    }
}
