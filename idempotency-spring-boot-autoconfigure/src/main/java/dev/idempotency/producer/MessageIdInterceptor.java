package dev.idempotency.producer;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Stamps what a template sends, after the interceptor that the application gave it: whose ids count, and whose failures. */
final class MessageIdInterceptor<K, V> implements ProducerInterceptor<K, V> {

    private final MessageIdStamper stamper;
    private final @Nullable ProducerInterceptor<K, V> applications;

    MessageIdInterceptor(MessageIdStamper stamper, @Nullable ProducerInterceptor<K, V> applications) {
        this.stamper = stamper;
        this.applications = applications;
    }

    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        return this.stamper.stamp(record, (this.applications != null) ? this.applications.onSend(record) : record);
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
        if (this.applications != null) {
            this.applications.close();
        }
    }
}
