package dev.idempotency.internal.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * The deserializers of a container's consumers, for records that another consumer has read. If the consumer factory shares
 * one object among its consumers, that object is used unchanged and never closed.
 */
public final class ListenerDeserializers implements AutoCloseable {

    private final List<Deserializer<?>> created = new ArrayList<>();
    private final Deserializer<?> keys;
    private final Deserializer<?> values;

    public ListenerDeserializers(AbstractMessageListenerContainer<?, ?> container) {
        ConsumerFactory<?, ?> factory = SpringKafkaInternals.consumerFactoryOf(container);
        Map<String, Object> settings = ListenerContainers.consumerSettings(container);
        // The received bytes are known here.
        settings.remove(CapturingDeserializer.RECEIVED);
        settings.remove(CapturingDeserializer.MESSAGES_FAULT);
        this.keys = resolve(factory, settings, true);
        this.values = resolve(factory, settings, false);
    }

    private Deserializer<?> resolve(
            @Nullable ConsumerFactory<?, ?> factory, Map<String, Object> settings, boolean keys) {
        Supplier<?> supplier = (factory instanceof DefaultKafkaConsumerFactory<?, ?> known)
                ? SpringKafkaInternals.deserializersOf(known, keys)
                : null;
        Object given = (supplier != null) ? supplier.get() : null;
        Deserializer<?> supplied = inner(given);
        if (supplied != null && supplied == inner(supplier.get())) {
            return supplied;
        }
        String name =
                keys ? ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG : ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG;
        Deserializer<?> own =
                (supplied != null) ? supplied : (Deserializer<?>) CapturingDeserializer.instantiate(settings.get(name));
        if (!(given instanceof CapturingDeserializer capturing && capturing.ready)) {
            own.configure(settings, keys);
        }
        this.created.add(own);
        return own;
    }

    private static @Nullable Deserializer<?> inner(@Nullable Object deserializer) {
        return (deserializer instanceof CapturingDeserializer capturing)
                ? capturing.inner()
                : (Deserializer<?>) deserializer;
    }

    /** The record that a listener would be given; its headers are a copy, as deserializers remove and add some. */
    public ConsumerRecord<@Nullable Object, @Nullable Object> deserialize(ConsumerRecord<byte[], byte[]> record) {
        RecordHeaders headers = new RecordHeaders(record.headers().toArray());
        Object key = deserialize(this.keys, record.topic(), headers, record.key());
        Object value = deserialize(this.values, record.topic(), headers, record.value());
        return ReceivedRecords.copy(record, key, value, headers);
    }

    /** The way consumers do it: with a buffer, which some deserializers treat otherwise than an array. */
    private static @Nullable Object deserialize(
            Deserializer<?> deserializer, String topic, Headers headers, byte @Nullable [] bytes) {
        return (bytes != null) ? deserializer.deserialize(topic, headers, ByteBuffer.wrap(bytes)) : null;
    }

    @Override
    public void close() {
        this.created.forEach(Deserializer::close);
    }
}
