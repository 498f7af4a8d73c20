package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.util.ClassUtils;

/** Gives records their places, and makes bytes of them as the application's producers do. */
final class RecordLog {

    private final ObjectProvider<ProducerFactory<?, ?>> producers;
    private final Map<TopicPartition, Long> nextOffsets = new ConcurrentHashMap<>();

    RecordLog(ObjectProvider<ProducerFactory<?, ?>> producers) {
        this.producers = producers;
    }

    LoggedRecord append(ProducerRecord<?, ?> record) {
        int partition = (record.partition() != null) ? record.partition() : 0;
        Headers headers = new RecordHeaders(LoggedRecord.copy(record.headers()));
        byte[] key = serialize(record.topic(), headers, record.key(), true);
        byte[] value = serialize(record.topic(), headers, record.value(), false);
        return new LoggedRecord(
                new RecordCoordinates(
                        record.topic(), partition, nextOffset(new TopicPartition(record.topic(), partition))),
                (record.timestamp() != null) ? record.timestamp() : System.currentTimeMillis(),
                LoggedRecord.copy(headers),
                key,
                value,
                true);
    }

    /** A record that has its place. What is appended later stands behind it. */
    LoggedRecord place(ConsumerRecord<?, ?> record) {
        LoggedRecord placed = LoggedRecord.of(record);
        this.nextOffsets.merge(placed.partition(), placed.offset() + 1, Math::max);
        return placed;
    }

    /** The same once more, at another place. */
    LoggedRecord republish(LoggedRecord record) {
        return record.at(nextOffset(record.partition()));
    }

    private long nextOffset(TopicPartition partition) {
        return this.nextOffsets.merge(partition, 1L, Long::sum) - 1;
    }

    private byte @Nullable [] serialize(String topic, Headers headers, @Nullable Object data, boolean key) {
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
        ProducerFactory<?, ?> factory = this.producers.getIfUnique();
        if (factory == null) {
            throw new IllegalStateException(
                    ("To make bytes of a %s, a ProducerFactory is needed, but there is none, or there are several"
                                    + " and none is @Primary. Deliver bytes, text or a ConsumerRecord instead.")
                            .formatted(data.getClass().getName()));
        }
        Serializer<Object> supplied = supplied(factory, key);
        if (supplied != null) {
            // Not closed, as it may be the same for all producers.
            return supplied.serialize(topic, headers, data);
        }
        try (Serializer<Object> configured = configured(factory, key)) {
            return configured.serialize(topic, headers, data);
        }
    }

    @SuppressWarnings("unchecked") // Whether it takes what it is given shows when it does.
    private static @Nullable Serializer<Object> supplied(ProducerFactory<?, ?> factory, boolean key) {
        Supplier<? extends @Nullable Serializer<?>> supplier =
                key ? factory.getKeySerializerSupplier() : factory.getValueSerializerSupplier();
        return (supplier != null) ? (Serializer<Object>) supplier.get() : null;
    }

    @SuppressWarnings("unchecked") // Likewise.
    private static Serializer<Object> configured(ProducerFactory<?, ?> factory, boolean key) {
        Map<String, Object> settings = new HashMap<>(factory.getConfigurationProperties());
        Object configured = settings.get(
                key ? ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG : ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        Serializer<Object> serializer = (Serializer<Object>) BeanUtils.instantiateClass(type);
        serializer.configure(settings, key);
        return serializer;
    }
}
