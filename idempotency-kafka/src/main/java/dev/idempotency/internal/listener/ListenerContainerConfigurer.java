package dev.idempotency.internal.listener;

import dev.idempotency.NonRetryableMessageException;
import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.definition.ProtectedMethods;
import dev.idempotency.internal.failure.ConsumerThreadState;
import dev.idempotency.internal.failure.ErrorHandlerInstaller;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.ExceptionClassifier;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Prepares the container of a protected listener, once, before it starts. What it changes, in this order:
 *
 * <ol>
 *   <li>the proxy of the listener's bean gets an advisor behind all others, which sees the call of the method
 *       ({@link IdempotentListenerAdvisor#installOn});
 *   <li>a Kafka transaction manager is taken off, and the ids of topics are tracked as partitions are assigned
 *       ({@link ListenerDefinitionRegistry#define});
 *   <li>the listener's reply template becomes an {@link AwaitedReplyTemplate};
 *   <li>the listener, without its filter if that sees several records, is wrapped in a {@link DeliveryListener}: of
 *       records, of batches, or of polls, for which {@code AckMode.RECORD} becomes {@code BATCH};
 *   <li>keys that cannot be used, and steps of unknown outcome, are not retried by the application's error handler, nor in retry topics;
 *   <li>{@link ErrorHandlerInstaller#install}: deserializers that remember the bytes and deliver what they cannot read, the
 *       provided error handler where there is none, {@code SuspendingErrorHandler} around it, {@code fixTxOffsets}
 *       switched off, and an interceptor that forgets the bytes after each poll.
 * </ol>
 */
public record ListenerContainerConfigurer(
        ListenerDefinitionRegistry definitions,
        ObjectProvider<DestinationTopicResolver> retryTopics,
        ErrorHandlerInstaller failures) {

    void configure(Object bean, AnnotatedElement element, AbstractMessageListenerContainer<?, ?> container) {
        ProtectedMethods methods =
                this.definitions.define(bean, element, container, IdempotentListenerAdvisor::installOn);
        if (methods == null) {
            return;
        }
        AwaitedReplyTemplate.install(ListenerContainers.innermostListenerOf(container));
        container.setupMessageListener(wrap(ListenerContainers.listenerOf(container), methods, container));
        excludeFromRetries(container.getCommonErrorHandler());
        this.retryTopics.ifAvailable(ListenerContainerConfigurer::excludeFromRetries);
        if (!methods.isEmpty()) {
            this.failures.install(
                    container,
                    methods.consumers(),
                    methods.representative().observer(),
                    this.retryTopics::getIfAvailable);
        }
        this.definitions.inspect(container);
    }

    private static void excludeFromRetries(@Nullable Object errorHandler) {
        if (errorHandler instanceof ExceptionClassifier classifier) {
            classifier.addNotRetryableExceptions(NonRetryableMessageException.class);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object wrap(
            @Nullable Object listener, ProtectedMethods methods, AbstractMessageListenerContainer<?, ?> container) {
        if (listener instanceof MessageListener single && !methods.hasTransactionPerPoll()) {
            return new RecordDeliveryListener(single, methods);
        }
        Object several = listener;
        RecordFilterStrategy filter = null;
        if (listener instanceof AbstractFilteringMessageListener filtering) {
            several = filtering.getDelegate();
            filter = SpringKafkaInternals.filterOf(filtering);
        }
        if (several instanceof BatchMessageListener batch) {
            return new BatchDeliveryListener(batch, methods, filter);
        }
        if (several instanceof MessageListener polled) {
            ContainerProperties properties = container.getContainerProperties();
            if (properties.getAckMode() == AckMode.RECORD) {
                // A record is done when its poll is.
                properties.setAckMode(AckMode.BATCH);
            }
            return new PollDeliveryListener(polled, methods, filter);
        }
        throw new IllegalStateException(
                "@IdempotentListener works with record and batch listeners, not with " + listener);
    }

    private static final class RecordDeliveryListener<K, V> extends DeliveryListener<K, V, MessageListener<K, V>>
            implements AcknowledgingConsumerAwareMessageListener<K, V> {

        RecordDeliveryListener(MessageListener<K, V> delegate, ProtectedMethods methods) {
            super(delegate, methods, null);
        }

        @Override
        public void onMessage(
                ConsumerRecord<K, V> record,
                @Nullable Acknowledgment acknowledgment,
                @Nullable Consumer<?, ?> consumer) {
            ConsumerThreadState.current().begin();
            Delivery delivery = new Delivery(this.methods, List.of(record), false, acknowledgment, consumer);
            delivery.during(() -> this.delegate.onMessage(record, delivery.acknowledgment, consumer));
        }
    }
}
