package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.definition.ReplyKeeper;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
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
record MethodCall(MethodInvocation invocation, Delivery delivery, ListenerDefinition definition)
        implements ListenerCall {

    private static final String KEEP_ELEMENTS =
            "Let the BatchMessageConverter, and aspects around @IdempotentListener, keep one element for each record.";

    /** Of a payload that has no element per record, there is no telling which key in it is whose. */
    @Override
    public void requireKeys() {
        int records = this.delivery.records().size();
        if (this.delivery.isBatch()
                && records > 1
                && !this.definition.candidates().variables().isEmpty()
                && !hasElements(this.invocation.getArguments())) {
            throw new UnprotectedListenerException(
                    ("%s of consumer '%s' was to be called with %d records, whose keys are in their payloads, but its payload"
                                    + " has no element per record. "
                                    + KEEP_ELEMENTS)
                            .formatted(this.definition.method(), this.definition.consumer(), records));
        }
    }

    @Override
    public MessageView view(int position) {
        return new ArgumentsView(this, position);
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        if (this.delivery.isBatch()) {
            return this.delivery.call(this.definition, narrow(admitted));
        }
        Object result = this.delivery.call(this.definition, this.invocation);
        ReplyKeeper replies = this.definition.method().replies();
        MessageId id = admitted.get(0).id();
        if (replies == null || id == null || this.delivery.isNacked()) {
            return result;
        }
        this.delivery.repliesTo(id);
        return replies.keep(id, result);
    }

    @Override
    public @Nullable Object replyAgain(List<Candidate> duplicates) {
        ReplyKeeper replies = this.definition.method().replies();
        MessageId id = duplicates.get(0).id();
        Object reply = (replies != null && id != null) ? replies.find(id) : null;
        if (reply != null) {
            this.delivery.repliesTo(id);
            this.delivery.answer();
        }
        return reply;
    }

    /** The lists are the listener's own: it may sort or empty them, and be called again with the same records. */
    private MethodInvocation narrow(List<Candidate> admitted) {
        int[] positions = admitted.stream().mapToInt(Candidate::position).toArray();
        this.delivery.narrow(positions);
        return ((ProxyMethodInvocation) this.invocation)
                .invocableClone(filter(this.invocation.getArguments(), positions));
    }

    private @Nullable Object[] filter(@Nullable Object[] arguments, int[] positions) {
        int records = this.delivery.records().size();
        @Nullable Object[] filtered = new BatchArguments(this.delivery.records(), positions).filter(arguments);
        if (positions.length == records) {
            return keepUncopied(filtered, arguments);
        }
        if (!hasElements(arguments)) {
            throw new UnprotectedListenerException(
                    ("%s of consumer '%s' was to be called with %d of %d records, as the others are duplicates, but its"
                                    + " payload has no element per record, so that they cannot be taken out. "
                                    + KEEP_ELEMENTS)
                            .formatted(
                                    this.definition.method(), this.definition.consumer(), positions.length, records));
        }
        return filtered;
    }

    /** A converter or an aspect may have made of the batch what has no element per record any more. */
    private boolean hasElements(@Nullable Object[] arguments) {
        int payload = this.definition.method().payloadIndex();
        return payload == ListenerMethod.NONE
                || BatchArguments.hasElements(
                        arguments[payload], this.delivery.records().size());
    }

    /** A list whose copy the method would not take, for which start-up checks can be relaxed, stays as it is. */
    private @Nullable Object[] keepUncopied(@Nullable Object[] copies, @Nullable Object[] arguments) {
        Class<?>[] types = this.invocation.getMethod().getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (!types[i].isInstance(copies[i])) {
                copies[i] = arguments[i];
            }
        }
        return copies;
    }

    /** The message at a position, seen through the arguments of the call. */
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
