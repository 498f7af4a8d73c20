package dev.idempotency.internal.kafka;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;

/** Answers questions about containers that they have no methods for. */
public final class ListenerContainers {

    private ListenerContainers() {}

    /** The settings of a container's consumers, as they will be in force: the listener's own, or the consumer factory's. */
    public static Map<String, Object> consumerSettings(AbstractMessageListenerContainer<?, ?> container) {
        ConsumerFactory<?, ?> factory = SpringKafkaInternals.consumerFactoryOf(container);
        Map<String, Object> settings =
                new HashMap<>((factory != null) ? factory.getConfigurationProperties() : Map.of());
        settings.putAll(ownConsumerSettings(container));
        return settings;
    }

    /** Returns the settings of the listener alone, with the defaults of its properties. */
    static Map<String, Object> ownConsumerSettings(AbstractMessageListenerContainer<?, ?> container) {
        Map<String, Object> settings = new HashMap<>();
        Properties own = container.getContainerProperties().getKafkaConsumerProperties();
        own.stringPropertyNames().forEach(name -> settings.put(name, own.getProperty(name)));
        own.forEach((name, value) -> settings.put(String.valueOf(name), value));
        return settings;
    }

    /** The topics that a container reads, or the pattern of their names. */
    public static List<String> topicsOf(MessageListenerContainer container) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.getTopics() != null) {
            return List.of(properties.getTopics());
        }
        if (properties.getTopicPattern() != null) {
            return List.of(properties.getTopicPattern().pattern());
        }
        TopicPartitionOffset[] partitions = properties.getTopicPartitions();
        return (partitions == null)
                ? List.of()
                : Arrays.stream(partitions)
                        .map(TopicPartitionOffset::getTopic)
                        .distinct()
                        .toList();
    }

    /** Removes the Kafka transactions of a container that is not started; returns whether it had any. */
    @SuppressWarnings("removal") // Still in force where it is set.
    public static boolean removeKafkaTransactions(MessageListenerContainer container) {
        ContainerProperties properties = container.getContainerProperties();
        boolean deprecated = properties.getTransactionManager() instanceof KafkaAwareTransactionManager;
        boolean present = deprecated || properties.getKafkaAwareTransactionManager() != null;
        properties.setKafkaAwareTransactionManager(null);
        if (deprecated) {
            properties.setTransactionManager(null);
        }
        return present;
    }

    /** Removes what would call a batch listener per record, within one claim. */
    @SuppressWarnings("NullAway") // There is none unless it is set.
    public static void removeBatchToRecordAdapter(MessageListenerContainer container) {
        if (innermostListenerOf(container) instanceof BatchMessagingMessageListenerAdapter<?, ?> batch) {
            batch.setBatchToRecordAdapter(null);
        }
    }

    /** Whether it hands over all records of a poll at once, even if the listener method takes single records. */
    public static boolean deliversBatches(MessageListenerContainer container) {
        return listenerOf(container) instanceof BatchMessageListener;
    }

    /** Whether an error handler logs that a batch has failed, and does nothing else about it. */
    public static boolean ignoresBatches(@Nullable CommonErrorHandler handler) {
        return handler != null
                && Stream.of("handleBatch", "handleBatchAndReturnRemaining")
                        .allMatch(name -> Arrays.stream(handler.getClass().getMethods())
                                .filter(method -> method.getName().equals(name))
                                .allMatch(method -> method.getDeclaringClass() == CommonErrorHandler.class));
    }

    /** The listener without the advice of its container, which is put around whatever is set up. */
    public static @Nullable Object listenerOf(MessageListenerContainer container) {
        return withoutAdvice(container.getContainerProperties().getMessageListener());
    }

    /** The listener within all that is around it. */
    public static @Nullable Object innermostListenerOf(MessageListenerContainer container) {
        Object listener = listenerOf(container);
        while (listener instanceof DelegatingMessageListener<?> delegating) {
            listener = withoutAdvice(delegating.getDelegate());
        }
        return listener;
    }

    private static @Nullable Object withoutAdvice(@Nullable Object listener) {
        Object target = (listener != null) ? AopProxyUtils.getSingletonTarget(listener) : null;
        return (target != null) ? target : listener;
    }
}
