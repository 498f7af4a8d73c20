package dev.idempotency.failure;

import dev.idempotency.kafka.ProducerSerializers;
import dev.idempotency.kafka.RawRecordProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Sends dead letters as they came: bytes and text unchanged, all else with the application's serializers, which are not
 * looked at before there is such a message.
 */
final class DeadLetterProducer implements AutoCloseable {

    private static final int ANY = -1;

    private final ProducerSerializers serializers;
    private final RawRecordProducer producer;

    DeadLetterProducer(ProducerFactory<?, ?> applications, @Nullable String applicationName) {
        this.serializers = new ProducerSerializers(() -> applications);
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
        return this.serializers.serialize(key, topic, headers, data);
    }

    @Override
    public void close() {
        this.producer.close();
        this.serializers.close();
    }
}
