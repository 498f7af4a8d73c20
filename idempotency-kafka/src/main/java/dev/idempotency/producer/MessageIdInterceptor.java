package dev.idempotency.producer;

import dev.idempotency.kafka.ProducerSerializers;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;

/** Stamps what a template sends, after the interceptor that the application gave it: whose ids count, and whose failures. */
final class MessageIdInterceptor<K, V> implements ProducerInterceptor<K, V> {

    private final MessageIdStamper stamper;
    private final Function<String, ? extends ProducerFactory<?, ?>> factories;
    private final @Nullable ProducerInterceptor<K, V> applications;
    private final Map<ProducerFactory<?, ?>, ProducerSerializers> serializers = new ConcurrentHashMap<>();

    /** {@code factories} of the template, by topic. */
    MessageIdInterceptor(
            MessageIdStamper stamper,
            Function<String, ? extends ProducerFactory<?, ?>> factories,
            @Nullable ProducerInterceptor<K, V> applications) {
        this.stamper = stamper;
        this.factories = factories;
        this.applications = applications;
    }

    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        return this.stamper.stamp(
                record,
                (this.applications != null) ? this.applications.onSend(record) : record,
                () -> this.serializers.computeIfAbsent(
                        this.factories.apply(record.topic()), factory -> new ProducerSerializers(() -> factory)));
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception) {
        if (this.applications != null) {
            this.applications.onAcknowledgement(metadata, exception);
        }
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception, Headers headers) {
        if (this.applications != null) {
            this.applications.onAcknowledgement(metadata, exception, headers);
        }
    }

    @Override
    public void configure(Map<String, ?> configs) {
        if (this.applications != null) {
            this.applications.configure(configs);
        }
    }

    @Override
    public void close() {
        this.serializers.values().forEach(ProducerSerializers::close);
        if (this.applications != null) {
            this.applications.close();
        }
    }
}
