package dev.idempotency.internal.kafka;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Serializes keys and values: bytes and text unchanged, everything else with the serializers of a {@link ProducerFactory},
 * which are created when first needed. Internal.
 */
public final class ProducerSerializers implements AutoCloseable {

    private final Supplier<? extends ProducerFactory<?, ?>> factory;

    private final Map<Boolean, Serializer<Object>> serializers = new ConcurrentHashMap<>();

    /** Those to be closed: one that the factory supplies may be shared by all its producers. */
    private final List<Serializer<?>> created = new CopyOnWriteArrayList<>();

    public ProducerSerializers(Supplier<? extends ProducerFactory<?, ?>> factory) {
        this.factory = factory;
    }

    public byte @Nullable [] serialize(boolean key, String topic, Headers headers, @Nullable Object data) {
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
        return this.serializers.computeIfAbsent(key, this::serializer).serialize(topic, headers, data);
    }

    @SuppressWarnings("unchecked") // Whether it takes what it is given shows when it does.
    private Serializer<Object> serializer(boolean key) {
        ProducerFactory<?, ?> factory = this.factory.get();
        Supplier<? extends @Nullable Serializer<?>> supplier =
                key ? factory.getKeySerializerSupplier() : factory.getValueSerializerSupplier();
        Serializer<?> supplied = (supplier != null) ? supplier.get() : null;
        if (supplied != null) {
            return (Serializer<Object>) supplied;
        }
        Map<String, Object> configuration = factory.getConfigurationProperties();
        Object configured = configuration.get(
                key ? ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG : ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
        Serializer<Object> serializer = (Serializer<Object>) CapturingDeserializer.instantiate(configured);
        serializer.configure(configuration, key);
        this.created.add(serializer);
        return serializer;
    }

    @Override
    public void close() {
        this.created.forEach(Serializer::close);
    }
}
