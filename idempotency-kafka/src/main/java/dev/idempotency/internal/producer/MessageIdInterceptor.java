package dev.idempotency.internal.producer;

import dev.idempotency.internal.kafka.ProducerSerializers;
import java.util.List;
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
    private final List<ProducerInterceptor<K, V>> applications;
    private final Map<ProducerFactory<?, ?>, ProducerSerializers> serializers = new ConcurrentHashMap<>();

    MessageIdInterceptor(
            MessageIdStamper stamper,
            Function<String, ? extends ProducerFactory<?, ?>> factories,
            @Nullable ProducerInterceptor<K, V> applications) {
        this.stamper = stamper;
        this.factories = factories;
        this.applications = (applications != null) ? List.of(applications) : List.of();
    }

    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        ProducerRecord<K, V> sent = record;
        for (ProducerInterceptor<K, V> each : this.applications) {
            sent = each.onSend(sent);
        }
        return this.stamper.stamp(
                record,
                sent,
                () -> this.serializers.computeIfAbsent(
                        this.factories.apply(record.topic()), factory -> new ProducerSerializers(() -> factory)));
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception) {
        this.applications.forEach(each -> each.onAcknowledgement(metadata, exception));
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception, Headers headers) {
        this.applications.forEach(each -> each.onAcknowledgement(metadata, exception, headers));
    }

    @Override
    public void configure(Map<String, ?> configs) {
        this.applications.forEach(each -> each.configure(configs));
    }

    @Override
    public void close() {
        this.serializers.values().forEach(ProducerSerializers::close);
        this.applications.forEach(each -> each.close());
    }
}
