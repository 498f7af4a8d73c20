package dev.idempotency.listener;

import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.kafka.RecordObservations;
import dev.idempotency.kafka.SpringKafkaInternals;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.FilteringMessageListenerAdapter;

/** Makes a batch container of the container of a record listener that has one transaction per poll. */
public final class PollContainerConfigurer {

    private final BeanFactory beanFactory;

    public PollContainerConfigurer(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** Changes the container's settings to those of batches, and returns the listener that it is to have. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    Object prepare(
            @Nullable Object listener, ProtectedMethods methods, AbstractMessageListenerContainer<?, ?> container) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.getAckMode() == AckMode.RECORD) {
            // A record is done when its poll is.
            properties.setAckMode(AckMode.BATCH);
        }
        RecordObservations observations = RecordObservations.of(container, this.beanFactory);
        if (listener instanceof FilteringMessageListenerAdapter filtering) {
            return new PollDeliveryListener(
                    (MessageListener) filtering.getDelegate(),
                    methods,
                    observations,
                    new ReadableRecordFilter(SpringKafkaInternals.filterOf(filtering)));
        }
        if (listener instanceof MessageListener single) {
            return new PollDeliveryListener(single, methods, observations, null);
        }
        throw new IllegalStateException(
                "@IdempotentListener has a transaction per poll for record listeners, not for " + listener);
    }
}
