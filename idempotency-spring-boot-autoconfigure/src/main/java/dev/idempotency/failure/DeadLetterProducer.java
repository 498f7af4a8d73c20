package dev.idempotency.failure;

import dev.idempotency.kafka.RawRecordProducer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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

    /** Those that have been needed, by whether they are for keys. */
    private final Map<Boolean, Serializer<Object>> serializers = new ConcurrentHashMap<>();

    DeadLetterProducer(ProducerFactory<?, ?> applications, @Nullable String applicationName) {
        this.applications = applications;
        this.producer =
                new RawRecordProducer(applications.getConfigurationProperties(), applicationName, "dead-letters");
        this.producer.postProcessWith(applications.getPostProcessors());
    }

    KafkaTemplate<byte[], byte[]> template() {
        return this.producer.template();
    }

    /** The partition with the same number of another topic, or any partition if it has none with that number. */
    TopicPartition resolveDestination(String topic, int partition) {
        boolean exists = template().partitionsFor(topic).stream().anyMatch(info -> info.partition() == partition);
        return new TopicPartition(topic, exists ? partition : ANY);
    }

    /** The bytes of a key or of a value. */
    byte @Nullable [] serialize(boolean key, String topic, Headers headers, @Nullable Object data) {
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
        return this.serializers.computeIfAbsent(key, this::createSerializer).serialize(topic, headers, data);
    }

    @SuppressWarnings("unchecked") // Whether it takes what it is given shows when it does.
    private Serializer<Object> createSerializer(boolean key) {
        Supplier<? extends @Nullable Serializer<?>> supplier =
                key ? this.applications.getKeySerializerSupplier() : this.applications.getValueSerializerSupplier();
        Serializer<?> supplied = (supplier != null) ? supplier.get() : null;
        if (supplied != null) {
            return (Serializer<Object>) supplied;
        }
        Map<String, Object> configuration = this.applications.getConfigurationProperties();
        Object configured = configuration.get(
                key ? ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG : ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        Serializer<Object> serializer = (Serializer<Object>) BeanUtils.instantiateClass(type);
        serializer.configure(configuration, key);
        return serializer;
    }

    @Override
    public void close() {
        this.producer.close();
        this.serializers.values().forEach(Serializer::close);
    }
}
