package dev.idempotency.redrive;

import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.PartitionReader;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Finds the dead-letter topics of consumers: those that the provided error handler publishes to, and those of retry topics,
 * whose containers are known to Spring Kafka.
 */
public final class DeadLetterSourceResolver {

    private final Supplier<List<ProtectedListener>> listeners;
    private final Supplier<Collection<MessageListenerContainer>> containers;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final String suffix;

    /**
     * Resolves nothing yet: listeners may still come.
     *
     * @param containers all of the application
     * @param suffix what is appended to a topic's name to get that of its dead-letter topic
     */
    public DeadLetterSourceResolver(
            Supplier<List<ProtectedListener>> listeners,
            Supplier<Collection<MessageListenerContainer>> containers,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            String suffix) {
        this.listeners = listeners;
        this.containers = containers;
        this.producerFactory = producerFactory;
        this.suffix = suffix;
    }

    /** The names of all consumers with listeners. */
    Set<String> consumers() {
        return this.listeners.get().stream()
                .map(listener -> listener.consumer().name())
                .collect(Collectors.toSet());
    }

    /** Those of a consumer, or {@code null} if there is no listener of that name. */
    @Nullable
    DeadLetterSource resolve(String consumer) {
        List<ProtectedListener> protectedListeners = this.listeners.get().stream()
                .filter(listener -> listener.consumer().name().equals(consumer))
                .toList();
        List<AbstractMessageListenerContainer<?, ?>> own = protectedListeners.stream()
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .distinct()
                .toList();
        List<AbstractMessageListenerContainer<?, ?>> main = own.stream()
                .filter(container -> container.getMainListenerId() == null)
                .toList();
        if (main.isEmpty()) {
            return null;
        }
        BrokerConnection listener = BrokerConnection.of(main.get(0));
        Set<String> topics =
                main.stream().flatMap(container -> topicsOf(container).stream()).collect(Collectors.toSet());
        TreeMap<String, BrokerConnection> deadLetters = new TreeMap<>();
        BrokerConnection published = deadLetterBrokers(listener);
        topics.forEach(topic -> deadLetters.put(topic + this.suffix, published));
        main.forEach(container -> deadLetterContainersOf(container, own)
                .forEach(deadLetter -> ContainerFacts.topicsOf(deadLetter)
                        .forEach(topic -> deadLetters.put(topic, BrokerConnection.of(deadLetter)))));
        return new DeadLetterSource(
                protectedListeners.get(0).consumer(),
                main.stream()
                        .map(MessageListenerContainer::getGroupId)
                        .filter(Objects::nonNull)
                        .collect(Collectors.toSet()),
                listener,
                topics,
                deadLetters);
    }

    /** The provided error handler publishes to where the application's producers send to. */
    private BrokerConnection deadLetterBrokers(BrokerConnection listener) {
        ProducerFactory<?, ?> factory = this.producerFactory.get();
        BrokerConnection producers = (factory != null) ? BrokerConnection.of(factory) : listener;
        return producers.leadsElsewhereThan(listener) ? producers : listener;
    }

    private static List<String> topicsOf(AbstractMessageListenerContainer<?, ?> container) {
        Pattern pattern = container.getContainerProperties().getTopicPattern();
        if (pattern == null) {
            return ContainerFacts.topicsOf(container);
        }
        try (PartitionReader reader = new PartitionReader(BrokerConnection.of(container), "dead-letters", null, true)) {
            return reader.topics().stream()
                    .filter(topic -> pattern.matcher(topic).matches())
                    .toList();
        }
    }

    private Stream<AbstractMessageListenerContainer<?, ?>> deadLetterContainersOf(
            AbstractMessageListenerContainer<?, ?> main, List<AbstractMessageListenerContainer<?, ?>> own) {
        return this.containers.get().stream()
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .<AbstractMessageListenerContainer<?, ?>>map(
                        container -> (AbstractMessageListenerContainer<?, ?>) container)
                .filter(container -> container.getMainListenerId() != null
                        && container.getMainListenerId().equals(main.getListenerId())
                        && !own.contains(container));
    }
}
