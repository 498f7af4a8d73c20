package dev.idempotency.internal.kafka;

import java.util.Properties;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.CompositeBatchInterceptor;
import org.springframework.kafka.listener.CompositeRecordInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;
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

    /** Whether this can be done for a container: its consumer factory takes its deserializers from settings or is given them. */
    public static boolean isPossibleIn(AbstractMessageListenerContainer<?, ?> container) {
        return SpringKafkaInternals.consumerFactoryOf(container) instanceof DefaultKafkaConsumerFactory;
    }

    /** Has the bytes of a container's records remembered. It must not have been started. */
    public void rememberIn(AbstractMessageListenerContainer<?, ?> container) {
        Properties own = wrapDeserializers(container);
        own.put(CapturingDeserializer.RECEIVED, this.received);
    }

    /** Makes a container's received records be forgotten before its next poll, by an interceptor beside its own. */
    public <K, V> void forgetBetweenPolls(AbstractMessageListenerContainer<K, V> container) {
        Forgetting<K, V> forgetting = new Forgetting<>(this.received);
        if (container.getContainerProperties().getMessageListener() instanceof BatchMessageListener) {
            BatchInterceptor<K, V> other = container.getBatchInterceptor();
            container.setBatchInterceptor(
                    (other != null) ? new CompositeBatchInterceptor<>(forgetting, other) : forgetting);
        } else {
            RecordInterceptor<K, V> other = container.getRecordInterceptor();
            container.setRecordInterceptor(
                    (other != null) ? new CompositeRecordInterceptor<>(forgetting, other) : forgetting);
        }
    }

    /** Whether the application has an interceptor, which may skip records. */
    public static boolean hasOtherInterceptor(AbstractMessageListenerContainer<?, ?> container) {
        return isOther(container.getRecordInterceptor()) || isOther(container.getBatchInterceptor());
    }

    private static boolean isOther(@Nullable Object interceptor) {
        return interceptor != null && !(interceptor instanceof Forgetting);
    }

    /** Digests what a container's consumers receive. */
    public Function<ConsumerRecord<?, ?>, @Nullable Long> digestIn(AbstractMessageListenerContainer<?, ?> container) {
        rememberIn(container);
        return this.received::digestOf;
    }

    /** Wraps the deserializers in properties of this container alone: it may have shared its properties. */
    @SuppressWarnings("unchecked") // The factory's own deserializers are within.
    private Properties wrapDeserializers(AbstractMessageListenerContainer<?, ?> container) {
        DefaultKafkaConsumerFactory<Object, Object> factory =
                (DefaultKafkaConsumerFactory<Object, Object>) SpringKafkaInternals.consumerFactoryOf(container);
        Assert.state(factory != null, "The container has no consumer factory");
        Properties own = new Properties();
        own.putAll(ListenerContainers.ownConsumerSettings(container));
        replace(factory, own, true);
        replace(factory, own, false);
        // Needed for the wrappers, which configure the factory's deserializers only if they were configured before.
        factory.setConfigureDeserializers(true);
        container.getContainerProperties().setKafkaConsumerProperties(own);
        return own;
    }

    /**
     * Has records that are unreadable by their own fault delivered to the error handler; other failures fail the poll.
     */
    public void deliverUnreadableIn(
            AbstractMessageListenerContainer<?, ?> container, Predicate<Throwable> messagesFault) {
        wrapDeserializers(container).put(CapturingDeserializer.MESSAGES_FAULT, messagesFault);
    }

    /** Whether the factory has been given deserializers, which are replaced then. */
    private boolean isSupplied(DefaultKafkaConsumerFactory<Object, Object> factory, boolean keys) {
        Supplier<?> supplier = SpringKafkaInternals.deserializersOf(factory, keys);
        if (supplier instanceof Remembering || supplier == null || supplier.get() == null) {
            return supplier instanceof Remembering;
        }
        Remembering remembering = new Remembering(supplier, SpringKafkaInternals.configuresDeserializers(factory));
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
        if (!isSupplied(factory, keys)
                && deserializer != null
                && !CapturingDeserializer.class.getName().equals(deserializer)) {
            own.put(delegate, deserializer);
            own.put(property, CapturingDeserializer.class.getName());
        }
    }

    /** Gives each consumer what the factory's own supplier gives, within a deserializer that remembers. */
    private record Remembering(Supplier<?> own, boolean configured) implements Supplier<Deserializer<Object>> {

        @Override
        public Deserializer<Object> get() {
            Deserializer<?> deserializer = (Deserializer<?>) this.own.get();
            Assert.state(deserializer != null, "The consumer factory no longer supplies a deserializer");
            return new CapturingDeserializer(deserializer, !this.configured);
        }
    }

    /** Has received records forgotten before the next poll. It intercepts nothing else. */
    private record Forgetting<K, V>(ReceivedRecords received)
            implements RecordInterceptor<K, V>, BatchInterceptor<K, V> {

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            Set<TopicPartition> paused = consumer.paused();
            // While the container holds records of an earlier poll, all partitions are paused.
            if (paused.isEmpty() || !paused.containsAll(consumer.assignment())) {
                this.received.beginPoll();
            }
        }

        @Override
        public ConsumerRecord<K, V> intercept(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            return record;
        }

        @Override
        public ConsumerRecords<K, V> intercept(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
            return records;
        }
    }
}
