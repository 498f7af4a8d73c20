package dev.idempotency.kafka;

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
 * Has the bytes remembered that a container's consumers receive, by standing before their deserializers.
 *
 * <p>Deserializers that are named by their class are replaced for this container alone. Those that the consumer factory
 * was given as objects can be replaced there only; for its other containers they do what they did before.
 */
public final class DeserializerInstrumentation {

    private final ReceivedRecords received = new ReceivedRecords();

    /** Returns the received records. */
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

    /** Has the bytes of a container's records remembered. It must not have been started. */
    public void rememberIn(AbstractMessageListenerContainer<?, ?> container) {
        Properties own = wrapDeserializers(container);
        own.put(CapturingDeserializer.RECEIVED, this.received);
    }

    /** Makes a container's received records be forgotten before its next poll. */
    public void forgetBetweenPolls(AbstractMessageListenerContainer<?, ?> container) {
        ReceivedRecordsInterceptor.install(container, this.received);
    }

    /** Digests what a container's consumers receive, where that can be remembered; or else what is made of it. */
    public PayloadDigester digestIn(AbstractMessageListenerContainer<?, ?> container) {
        if (refusal(container) != null) {
            return PayloadDigester.OF_VALUES;
        }
        rememberIn(container);
        return this.received::digestOf;
    }

    /** Wraps the deserializers in properties of this container alone: it may have shared its properties. */
    private Properties wrapDeserializers(AbstractMessageListenerContainer<?, ?> container) {
        DefaultKafkaConsumerFactory<?, ?> factory =
                (DefaultKafkaConsumerFactory<?, ?>) SpringKafkaInternals.consumerFactoryOf(container);
        Assert.state(factory != null, "The container has no consumer factory");
        Properties own = new Properties();
        own.putAll(ContainerFacts.ownConsumerSettings(container));
        if (!replaceSupplied(factory, true)) {
            replaceNamed(
                    factory, own, ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, CapturingDeserializer.KEY_DELEGATE);
        }
        if (!replaceSupplied(factory, false)) {
            replaceNamed(
                    factory, own, ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, CapturingDeserializer.VALUE_DELEGATE);
        }
        container.getContainerProperties().setKafkaConsumerProperties(own);
        return own;
    }

    /**
     * Has records that a container's deserializers cannot read delivered all the same, as {@code
     * ErrorHandlingDeserializer}s do: to the container's error handler, instead of failing each poll from then on.
     *
     * @param messagesFault which failures; others fail the poll
     */
    public void deliverUnreadableIn(
            AbstractMessageListenerContainer<?, ?> container, Predicate<Throwable> messagesFault) {
        wrapDeserializers(container).put(CapturingDeserializer.MESSAGES_FAULT, messagesFault);
    }

    /** Whether the factory has been given deserializers, which are replaced then. */
    private boolean replaceSupplied(DefaultKafkaConsumerFactory<?, ?> factory, boolean keys) {
        Supplier<?> supplier = SpringKafkaInternals.deserializersOf(factory, keys);
        if (supplier instanceof Remembering) {
            return true;
        }
        Object sample = (supplier != null) ? supplier.get() : null;
        if (sample == null) {
            return false;
        }
        replace(factory, keys, new Remembering(supplier, this.received, keys));
        return true;
    }

    @SuppressWarnings("unchecked") // The factory's own deserializers are within.
    private static void replace(DefaultKafkaConsumerFactory<?, ?> factory, boolean keys, Remembering deserializers) {
        DefaultKafkaConsumerFactory<Object, Object> any = (DefaultKafkaConsumerFactory<Object, Object>) factory;
        if (keys) {
            any.setKeyDeserializerSupplier(deserializers);
        } else {
            any.setValueDeserializerSupplier(deserializers);
        }
    }

    private static void replaceNamed(
            DefaultKafkaConsumerFactory<?, ?> factory, Properties own, String property, String delegate) {
        Object deserializer =
                own.getOrDefault(property, factory.getConfigurationProperties().get(property));
        if (deserializer != null && !CapturingDeserializer.class.getName().equals(deserializer)) {
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
