package dev.idempotency.test;

import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Reads records with the deserializers of a container's consumer. It does not close them, as they may be shared. */
final class RecordReader {

    private final Deserializer<?> keys;
    private final Deserializer<?> values;

    RecordReader(AbstractMessageListenerContainer<?, ?> container) {
        Map<String, Object> settings = ListenerContainers.consumerSettings(container);
        ConsumerFactory<?, ?> factory = SpringKafkaInternals.consumerFactoryOf(container);
        Assert.state(factory != null, "The container has no consumer factory");
        this.keys = deserializer(factory, factory.getKeyDeserializer(), settings, true);
        this.values = deserializer(factory, factory.getValueDeserializer(), settings, false);
    }

    private static Deserializer<?> deserializer(
            ConsumerFactory<?, ?> factory,
            @Nullable Deserializer<?> supplied,
            Map<String, Object> settings,
            boolean keys) {
        if (supplied != null) {
            if (configuresSupplied(factory)) {
                supplied.configure(settings, keys);
            }
            return supplied;
        }
        Object configured = settings.get(
                keys ? ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG : ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        Deserializer<?> deserializer = (Deserializer<?>) BeanUtils.instantiateClass(type);
        deserializer.configure(settings, keys);
        return deserializer;
    }

    /** Reads a private field of Spring Kafka. For other consumer factories, assumes its default, {@code true}. */
    private static boolean configuresSupplied(ConsumerFactory<?, ?> factory) {
        Field field = ReflectionUtils.findField(DefaultKafkaConsumerFactory.class, "configureDeserializers");
        if (field == null || !(factory instanceof DefaultKafkaConsumerFactory)) {
            return field != null;
        }
        ReflectionUtils.makeAccessible(field);
        return Boolean.TRUE.equals(ReflectionUtils.getField(field, factory));
    }

    /**
     * Deserializes a record, anew each time.
     *
     * @throws RecordDeserializationException like a consumer in {@code poll}
     */
    ConsumerRecord<Object, Object> read(LoggedRecord record) {
        Headers headers = record.freshHeaders();
        if (!record.bytes()) {
            return record.delivered(headers, record.key(), record.value());
        }
        Object key = read(this.keys, DeserializationExceptionOrigin.KEY, record, headers, record.key());
        Object value = read(this.values, DeserializationExceptionOrigin.VALUE, record, headers, record.value());
        return record.delivered(headers, key, value);
    }

    private static @Nullable Object read(
            Deserializer<?> deserializer,
            DeserializationExceptionOrigin origin,
            LoggedRecord record,
            Headers headers,
            @Nullable Object data) {
        if (!(data instanceof byte[] bytes)) {
            return null;
        }
        try {
            return deserializer.deserialize(record.topic(), headers, ByteBuffer.wrap(bytes.clone()));
        } catch (RuntimeException ex) {
            throw new RecordDeserializationException(
                    origin,
                    record.partition(),
                    record.offset(),
                    record.timestamp(),
                    TimestampType.CREATE_TIME,
                    buffer(record.key()),
                    buffer(record.value()),
                    headers,
                    "Error deserializing %s for partition %s at offset %d"
                            .formatted(origin, record.partition(), record.offset()),
                    ex);
        }
    }

    private static @Nullable ByteBuffer buffer(@Nullable Object data) {
        return (data instanceof byte[] bytes) ? ByteBuffer.wrap(bytes) : null;
    }
}
