package dev.idempotency.internal.listener;

import dev.idempotency.MessageId;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.definition.ListenerMethod;
import dev.idempotency.internal.definition.ReplyStore;
import dev.idempotency.internal.key.MessageView;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.messaging.Message;

/**
 * The container's own call of the listener: of a batch, with the arguments narrowed to the messages that are new; of a record,
 * with its reply kept for duplicates, where that is asked for.
 */
final class MethodCall extends IdempotentInvocation {

    private final MethodInvocation invocation;

    MethodCall(MethodInvocation invocation, Delivery delivery, ListenerDefinition definition) {
        super(delivery, definition);
        this.invocation = invocation;
    }

    /** A converter or an aspect may have turned the batch into something from which duplicates cannot be removed. */
    @Override
    @Nullable
    Object proceed() throws Throwable {
        int payload = this.definition.method().payloadIndex();
        int records = this.delivery.records.size();
        if (this.delivery.batch
                && records > 1
                && payload != ListenerMethod.NONE
                && !BatchArguments.hasElements(this.invocation.getArguments()[payload], records)) {
            throw new UnprotectedCallException(
                    ("%s was to be called with %d records, but its payload has no element per record. Let"
                                    + " the BatchMessageConverter, and aspects around @IdempotentListener, keep one element"
                                    + " for each record.")
                            .formatted(this.definition, records));
        }
        return super.proceed();
    }

    /** Sees the message through the arguments of the call. */
    @Override
    MessageView view(int position) {
        return new MessageView() {

            @Override
            public ConsumerRecord<?, ?> record() {
                return MethodCall.this.delivery.records.get(position);
            }

            @Override
            public @Nullable Object payload() {
                int index = MethodCall.this.definition.method().payloadIndex();
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
                Object argument = MethodCall.this.invocation.getArguments()[index];
                Delivery delivery = MethodCall.this.delivery;
                return delivery.batch ? BatchArguments.element(argument, position, delivery.records.size()) : argument;
            }
        };
    }

    @Override
    @Nullable
    Object call(List<InboundMessage> accepted) throws Throwable {
        if (this.delivery.batch) {
            return this.delivery.call(this.definition, narrow(accepted));
        }
        Object result = this.delivery.call(this.definition, this.invocation);
        ReplyStore replies = this.definition.method().replies();
        MessageId id = accepted.get(0).id();
        if (replies == null || id == null || this.delivery.isNacked()) {
            return result;
        }
        this.delivery.repliesTo(id);
        return replies.keep(id, result);
    }

    @Override
    @Nullable
    Object replyAgain(List<InboundMessage> duplicates) {
        ReplyStore replies = this.definition.method().replies();
        MessageId id = duplicates.get(0).id();
        Object reply = (replies != null && id != null) ? replies.find(id) : null;
        if (reply != null) {
            this.delivery.repliesTo(id);
        }
        return reply;
    }

    /** The lists are the listener's own: it may sort or empty them, and be called again with the same records. */
    private MethodInvocation narrow(List<InboundMessage> accepted) {
        int[] positions = accepted.stream().mapToInt(InboundMessage::position).toArray();
        if (this.delivery.acknowledgment != null) {
            this.delivery.acknowledgment.begin(positions.length);
        }
        BatchArguments narrowed = new BatchArguments(this.delivery.records.size(), positions);
        return ((ProxyMethodInvocation) this.invocation)
                .invocableClone(narrowed.filter(this.invocation.getArguments()));
    }
}
