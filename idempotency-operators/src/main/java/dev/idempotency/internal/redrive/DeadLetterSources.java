package dev.idempotency.internal.redrive;

import dev.idempotency.OperatorActionException;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.redrive.DeadLetterReader.Source;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Finds and reads the dead-letter topics of consumers: topics of the provided error handler, and topics of the containers
 * that Spring Kafka has for retry topics.
 */
public final class DeadLetterSources {

    private final Supplier<List<ProtectedListener>> listeners;
    private final Supplier<Collection<MessageListenerContainer>> containers;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final String suffix;
    private final int maxRedrives;

    /**
     * Resolves nothing yet: listeners may still be added.
     *
     * @param suffix appended to a topic's name to get its dead-letter topic
     */
    public DeadLetterSources(
            Supplier<List<ProtectedListener>> listeners,
            Supplier<Collection<MessageListenerContainer>> containers,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            String suffix,
            int maxRedrives) {
        this.listeners = listeners;
        this.containers = containers;
        this.producerFactory = producerFactory;
        this.suffix = suffix;
        this.maxRedrives = maxRedrives;
    }

    /** The listeners of a consumer, of which there must be one. */
    public List<ProtectedListener> listenersOf(String consumer) {
        List<ProtectedListener> own = this.listeners.get().stream()
                .filter(listener -> listener.consumer().name().equals(consumer))
                .toList();
        if (own.isEmpty()) {
            throw new OperatorActionException(
                    "There is no listener of consumer '%s' in this application; there are %s"
                            .formatted(consumer, consumers()),
                    null);
        }
        return own;
    }

    /** The names of all consumers with listeners. */
    public Set<String> consumers() {
        return this.listeners.get().stream()
                .map(listener -> listener.consumer().name())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The original records of a consumer's dead letters since a time; {@code stopped} says whether to look no further. */
    public OriginalRecords originalsSince(String consumer, Instant since, BooleanSupplier stopped) {
        return read(find(consumer), reader -> reader.originalsSince(since, stopped));
    }

    <T extends @Nullable Object> T read(Source source, Function<DeadLetterReader, T> work) {
        try (DeadLetterReader reader = new DeadLetterReader(source)) {
            return work.apply(reader);
        } catch (KafkaException ex) {
            throw new OperatorActionException(
                    "The dead letters of consumer '%s' in %s cannot be read: %s. See that the brokers can be reached with the listener's settings, and that the application may read these topics, and commit offsets as group '%s'."
                            .formatted(source.consumer(), source.deadLetterTopics(), ex, source.redriveGroup()),
                    ex);
        }
    }

    /** The dead letters of a consumer, which must have a listener. */
    Source find(String consumer) {
        List<ProtectedListener> own = listenersOf(consumer);
        Set<MessageListenerContainer> ownContainers =
                own.stream().map(ProtectedListener::container).collect(Collectors.toSet());
        List<AbstractMessageListenerContainer<?, ?>> main = own.stream()
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .filter(container -> container.getMainListenerId() == null)
                .distinct()
                .toList();
        BrokerConnection listener = BrokerConnection.of(main.get(0));
        Set<String> topics = main.stream()
                .flatMap(container -> topicsOf(consumer, container).stream())
                .collect(Collectors.toSet());
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
        return new Source(
                own.get(0).consumer(),
                groups,
                listener,
                topics,
                deadLetters,
                deadLetterBrokers(listener),
                this.maxRedrives);
    }

    /** Dead letters are published to where the application's producers send to. */
    private BrokerConnection deadLetterBrokers(BrokerConnection listener) {
        ProducerFactory<?, ?> factory = this.producerFactory.get();
        BrokerConnection producers = (factory != null) ? BrokerConnection.of(factory) : listener;
        return producers.leadsElsewhereThan(listener) ? producers : listener;
    }

    private static List<String> topicsOf(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        if (container.getContainerProperties().getTopicPattern() == null) {
            return ListenerContainers.topicsOf(container);
        }
        try (PartitionReader reader = new PartitionReader(BrokerConnection.of(container), "dead-letters", null, true)) {
            return reader.topicsOf(container);
        } catch (KafkaException ex) {
            throw new OperatorActionException(
                    "The topics of consumer '%s', which are found by a pattern, cannot be listed: %s. See that the brokers can be reached with the listener's settings, and that the application may describe topics."
                            .formatted(consumer, ex),
                    ex);
        }
    }
}
