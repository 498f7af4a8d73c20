package dev.idempotency.failure;

import dev.idempotency.kafka.RawRecordProducer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.util.ClassUtils;

/**
 * Sends dead letters as they came: bytes and text unchanged, all else with the application's serializers, which are not
 * looked at before there is such a message.
 */
final class DeadLetterProducer implements AutoCloseable {

    private static final int ANY = -1;

    private final ProducerFactory<?, ?> applications;
    private final RawRecordProducer producer;
    private @Nullable Serializer<Object> keySerializer;
    private @Nullable Serializer<Object> valueSerializer;

    DeadLetterProducer(ProducerFactory<?, ?> applications, @Nullable String applicationName) {
        this.applications = applications;
        this.producer =
                new RawRecordProducer(applications.getConfigurationProperties(), applicationName, "dead-letters");
    }

    private synchronized Serializer<Object> keySerializer() {
        if (this.keySerializer == null) {
            this.keySerializer = serializer(
                    this.applications.getKeySerializerSupplier(),
                    this.applications.getConfigurationProperties(),
                    ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                    true);
        }
        return this.keySerializer;
    }

    private synchronized Serializer<Object> valueSerializer() {
        if (this.valueSerializer == null) {
            this.valueSerializer = serializer(
                    this.applications.getValueSerializerSupplier(),
                    this.applications.getConfigurationProperties(),
                    ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                    false);
        }
        return this.valueSerializer;
    }

    /** The partition with the same number of another topic, or any partition if it has none with that number. */
    TopicPartition resolveDestination(String topic, int partition) {
        boolean exists = template().partitionsFor(topic).stream().anyMatch(info -> info.partition() == partition);
        return new TopicPartition(topic, exists ? partition : ANY);
    }

    @SuppressWarnings("unchecked")
    private static Serializer<Object> serializer(
            @Nullable Supplier<? extends @Nullable Serializer<?>> supplier,
            Map<String, Object> configuration,
            String property,
            boolean key) {
        Serializer<?> supplied = (supplier != null) ? supplier.get() : null;
        if (supplied != null) {
            return (Serializer<Object>) supplied;
        }
        Object configured = configuration.get(property);
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        Serializer<Object> serializer = (Serializer<Object>) BeanUtils.instantiateClass(type);
        serializer.configure(configuration, key);
        return serializer;
    }

    KafkaTemplate<byte[], byte[]> template() {
        return this.producer.template();
    }

    byte @Nullable [] serializeKey(String topic, Headers headers, @Nullable Object key) {
        return serialize(this::keySerializer, topic, headers, key);
    }

    byte @Nullable [] serializeValue(String topic, Headers headers, @Nullable Object value) {
        return serialize(this::valueSerializer, topic, headers, value);
    }

    private static byte @Nullable [] serialize(
            Supplier<Serializer<Object>> serializer, String topic, Headers headers, @Nullable Object data) {
        if (data == null) {
            return null;
        }
        if (data instanceof byte[] bytes) {
            return bytes;
        }
        if (data instanceof Bytes bytes) {
            return bytes.get();
        }
        if (data instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        return serializer.get().serialize(topic, headers, data);
    }

    @Override
    public synchronized void close() {
        this.producer.close();
        if (this.keySerializer != null) {
            this.keySerializer.close();
        }
        if (this.valueSerializer != null) {
            this.valueSerializer.close();
        }
    }
}
