package dev.idempotency.kafka;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.AdapterUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.GenericMessage;

/**
 * What a listener's method would be called with for a record: its payload converted, its other parameters found. The method
 * is not called.
 *
 * @param method the method; of several, the one for the payload
 * @param arguments its arguments; of a batch listener, lists with one element
 */
public record ListenerArguments(Method method, @Nullable Object[] arguments) {

    private static final Acknowledgment NO_ACKNOWLEDGMENT = () -> {};

    /** Has the adapter of a listener convert a record. Whatever it throws, its listener could not be called with that record. */
    public static ListenerArguments of(MessagingMessageListenerAdapter<?, ?> adapter, ConsumerRecord<?, ?> record) {
        HandlerAdapter handler = SpringKafkaInternals.handlerOf(adapter);
        if (handler == null) {
            throw new IllegalStateException(
                    "This version of Spring Kafka does not tell which method a container calls");
        }
        boolean batch = adapter instanceof BatchMessagingMessageListenerAdapter;
        Message<?> message = batch ? messageOfBatch(adapter, record) : messageOf(adapter, record);
        boolean withRecord = !batch || SpringKafkaInternals.isListOf(ConsumerRecord.class, adapter);
        Object data = batch ? List.of(record) : record;
        DelegatingInvocableHandler choice = SpringKafkaInternals.methodChoiceOf(handler);
        InvocableHandlerMethod method = (choice != null)
                ? SpringKafkaInternals.methodFor(choice, message.getPayload())
                : SpringKafkaInternals.onlyMethodOf(handler);
        if (method == null) {
            throw new IllegalStateException(
                    "This version of Spring Kafka does not tell which method a container calls");
        }
        @Nullable
        Object[] provided = {
            (choice != null && choice.hasDefaultHandler()) ? message.getPayload() : null,
            withRecord ? data : null,
            NO_ACKNOWLEDGMENT,
            noConsumer(method.getMethod()),
            batch ? null : AdapterUtils.buildConsumerRecordMetadata(record)
        };
        return new ListenerArguments(method.getMethod(), SpringKafkaInternals.argumentsOf(method, message, provided));
    }

    private static Message<?> messageOf(MessagingMessageListenerAdapter<?, ?> adapter, ConsumerRecord<?, ?> record) {
        return adapter.isConversionNeeded()
                ? SpringKafkaInternals.convert(adapter, record)
                : new GenericMessage<>(KafkaNull.INSTANCE);
    }

    private static Message<?> messageOfBatch(
            MessagingMessageListenerAdapter<?, ?> adapter, ConsumerRecord<?, ?> record) {
        if (SpringKafkaInternals.isListOf(ConsumerRecord.class, adapter)) {
            return new GenericMessage<>(KafkaNull.INSTANCE);
        }
        return SpringKafkaInternals.isListOf(Message.class, adapter)
                ? new GenericMessage<>(List.of(SpringKafkaInternals.convert(adapter, record)))
                : SpringKafkaInternals.convert(adapter, List.of(record));
    }

    /** Something in the place of the consumer, for methods that take one: it can do nothing. */
    private static @Nullable Object noConsumer(Method method) {
        return List.of(method.getParameterTypes()).contains(Consumer.class)
                ? Proxy.newProxyInstance(
                        Consumer.class.getClassLoader(),
                        new Class<?>[] {Consumer.class},
                        (proxy, called, arguments) -> {
                            throw new UnsupportedOperationException("There is no consumer outside a delivery");
                        })
                : null;
    }
}
