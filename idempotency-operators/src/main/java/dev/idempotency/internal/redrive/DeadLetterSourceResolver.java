package dev.idempotency.internal.redrive;

import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Finds the dead-letter topics of consumers: topics of the provided error handler, and topics of the
 * containers that Spring Kafka has for retry topics.
 */
public final class DeadLetterSourceResolver {

    /**
     * Where the dead letters of a consumer are, and where they belong.
     *
     * @param groups its consumer groups
     * @param listener where it reads from
     * @param topics its own topics, without its retry topics
     * @param deadLetterTopics topics that may exist
     * @param deadLetterBrokers the brokers that they are on
     */
    record Source(
            ConsumerDescription description,
            Set<String> groups,
            BrokerConnection listener,
            Set<String> topics,
            SortedSet<String> deadLetterTopics,
            BrokerConnection deadLetterBrokers) {

        String consumer() {
            return this.description.name();
        }

        /** The group whose offsets say what has been sent back. It begins as the listener's, as grants often do. */
        String redriveGroup() {
            return this.groups.stream().sorted().findFirst().orElse("idempotency") + ".redrive." + consumer();
        }
    }

    private final Supplier<List<ProtectedListener>> listeners;
    private final Supplier<Collection<MessageListenerContainer>> containers;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final String suffix;

    /**
     * Resolves nothing yet: listeners may still be added.
     *
     * @param containers all of the application
     * @param suffix appended to a topic's name to get its dead-letter topic
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

    /** The dead letters of a consumer, or {@code null} if it has no listener. */
    @Nullable
    Source resolve(String consumer) {
        List<ProtectedListener> own = this.listeners.get().stream()
                .filter(listener -> listener.consumer().name().equals(consumer))
                .toList();
        Set<MessageListenerContainer> ownContainers =
                own.stream().map(ProtectedListener::container).collect(Collectors.toSet());
        List<AbstractMessageListenerContainer<?, ?>> main = own.stream()
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .filter(container -> container.getMainListenerId() == null)
                .distinct()
                .toList();
        if (main.isEmpty()) {
            return null;
        }
        BrokerConnection listener = BrokerConnection.of(main.get(0));
        Set<String> topics =
                main.stream().flatMap(container -> topicsOf(container).stream()).collect(Collectors.toSet());
        SortedSet<String> deadLetters = new TreeSet<>();
        topics.forEach(topic -> deadLetters.add(topic + this.suffix));
        Set<String> ids =
                main.stream().map(MessageListenerContainer::getListenerId).collect(Collectors.toSet());
        for (MessageListenerContainer container : this.containers.get()) {
            if (container instanceof AbstractMessageListenerContainer<?, ?> deadLetter
                    && deadLetter.getMainListenerId() != null
                    && ids.contains(deadLetter.getMainListenerId())
                    && !ownContainers.contains(deadLetter)) {
                deadLetters.addAll(ListenerContainers.topicsOf(deadLetter));
            }
        }
        Set<String> groups = main.stream()
                .map(MessageListenerContainer::getGroupId)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        return new Source(own.get(0).consumer(), groups, listener, topics, deadLetters, deadLetterBrokers(listener));
    }

    /** Dead letters are published to where the application's producers send to. */
    private BrokerConnection deadLetterBrokers(BrokerConnection listener) {
        ProducerFactory<?, ?> factory = this.producerFactory.get();
        BrokerConnection producers = (factory != null) ? BrokerConnection.of(factory) : listener;
        return producers.leadsElsewhereThan(listener) ? producers : listener;
    }

    private static List<String> topicsOf(AbstractMessageListenerContainer<?, ?> container) {
        Pattern pattern = container.getContainerProperties().getTopicPattern();
        if (pattern == null) {
            return ListenerContainers.topicsOf(container);
        }
        try (PartitionReader reader = new PartitionReader(BrokerConnection.of(container), "dead-letters", null, true)) {
            return reader.topics().stream()
                    .filter(topic -> pattern.matcher(topic).matches())
                    .toList();
        }
    }
}
