package dev.idempotency.internal.kafka;

import java.util.Properties;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.Assert;

/**
 * Has received bytes remembered by standing before deserializers. Those named by their class are replaced for one
 * container; those that the consumer factory was given as objects, there: for its other containers they do what they
 * did.
 */
public final class DeserializerInstrumentation {

    private final ReceivedRecords received = new ReceivedRecords();

    public ReceivedRecords records() {
        return this.received;
    }

    /** Why this cannot be done for a container, or {@code null} if it can. */
    public static @Nullable String refusal(AbstractMessageListenerContainer<?, ?> container) {
        ConsumerFactory<?, ?> factory = SpringKafkaInternals.consumerFactoryOf(container);
        return (factory instanceof DefaultKafkaConsumerFactory)
                ? null
                : "Its consumer factory is a %s, which does not let the received bytes be kept"
                        .formatted((factory != null) ? factory.getClass().getName() : null);
    }

    /**
     * Has the bytes of a container's records remembered, and records that are unreadable by their own fault delivered to the
     * error handler; other failures fail the poll. The container must not have been started.
     */
    @SuppressWarnings("unchecked") // The factory's own deserializers are within.
    public void install(AbstractMessageListenerContainer<?, ?> container, Predicate<Throwable> messagesFault) {
        DefaultKafkaConsumerFactory<Object, Object> factory =
                (DefaultKafkaConsumerFactory<Object, Object>) SpringKafkaInternals.consumerFactoryOf(container);
        Assert.state(factory != null, "The container has no consumer factory");
        // Of this container alone: it may have shared its properties.
        Properties own = new Properties();
        own.putAll(ListenerContainers.ownConsumerSettings(container));
        replace(factory, own, true);
        replace(factory, own, false);
        own.put(CapturingDeserializer.RECEIVED, this.received);
        own.put(CapturingDeserializer.MESSAGES_FAULT, messagesFault);
        container.getContainerProperties().setKafkaConsumerProperties(own);
    }

    /** Whether the factory has been given deserializers, which are replaced then. */
    private boolean isSupplied(DefaultKafkaConsumerFactory<Object, Object> factory, boolean keys) {
        Supplier<?> supplier = SpringKafkaInternals.deserializersOf(factory, keys);
        if (supplier instanceof Remembering || supplier == null || supplier.get() == null) {
            return supplier instanceof Remembering;
        }
        Remembering remembering = new Remembering(supplier, this.received, keys);
        if (keys) {
            factory.setKeyDeserializerSupplier(remembering);
        } else {
            factory.setValueDeserializerSupplier(remembering);
        }
        return true;
    }

    private void replace(DefaultKafkaConsumerFactory<Object, Object> factory, Properties own, boolean keys) {
        String property =
                keys ? ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG : ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG;
        String delegate = keys ? CapturingDeserializer.KEY_DELEGATE : CapturingDeserializer.VALUE_DELEGATE;
        Object deserializer =
                own.getOrDefault(property, factory.getConfigurationProperties().get(property));
        if (!isSupplied(factory, keys) && deserializer != null) {
            own.put(delegate, deserializer);
            own.put(property, CapturingDeserializer.class.getName());
        }
    }

    /** Gives each consumer what the factory's own supplier gives, within a deserializer that remembers. */
    private record Remembering(Supplier<?> own, ReceivedRecords received, boolean key)
            implements Supplier<Deserializer<Object>> {

        @Override
        public Deserializer<Object> get() {
            Deserializer<?> deserializer = (Deserializer<?>) this.own.get();
            Assert.state(deserializer != null, "The consumer factory no longer supplies a deserializer");
            return new CapturingDeserializer(deserializer, this.received, this.key);
        }
    }
}
