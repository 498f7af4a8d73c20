package dev.idempotency.check;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/** What a container does not tell by itself. */
final class ContainerFacts {

    private final AbstractMessageListenerContainer<?, ?> container;

    ContainerFacts(AbstractMessageListenerContainer<?, ?> container) {
        this.container = container;
    }

    /** A consumer setting as it will be in force: the listener's own, or that of the consumer factory. */
    @Nullable
    String consumerProperty(String name) {
        Properties own = this.container.getContainerProperties().getKafkaConsumerProperties();
        String override = (own != null) ? own.getProperty(name) : null;
        if (override != null) {
            return override;
        }
        Object configured = consumerConfiguration().get(name);
        return (configured != null) ? configured.toString() : null;
    }

    Map<String, Object> consumerConfiguration() {
        Object factory = field(AbstractMessageListenerContainer.class, "consumerFactory", this.container);
        return (factory instanceof ConsumerFactory<?, ?> consumers) ? consumers.getConfigurationProperties() : Map.of();
    }

    /** Whether it hands over all records of a poll at once, be it that the listener method takes them one by one. */
    boolean deliversBatches() {
        return this.container.getContainerProperties().getMessageListener() instanceof BatchMessageListener;
    }

    /** The listener within all that is around it. */
    @Nullable
    Object innermostListener() {
        Object listener = this.container.getContainerProperties().getMessageListener();
        while (listener instanceof DelegatingMessageListener<?> delegating) {
            listener = delegating.getDelegate();
        }
        return listener;
    }

    /** The value of a field that has no getter. */
    static @Nullable Object field(Class<?> type, String name, Object object) {
        Field field = ReflectionUtils.findField(type, name);
        Assert.state(field != null, () -> "This version of Spring Kafka has no field '%s' in %s".formatted(name, type));
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, object);
    }
}
