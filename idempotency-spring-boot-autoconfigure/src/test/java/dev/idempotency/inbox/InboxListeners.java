package dev.idempotency.inbox;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchListenerFailedException;

/** The listeners of {@link InboxApplication}, each with the topic and the consumer of its name. */
@Import(Effects.class)
class InboxListeners {

    private final Effects effects;
    private final Map<String, AtomicInteger> failuresOf = new ConcurrentHashMap<>();

    InboxListeners(Effects effects) {
        this.effects = effects;
    }

    /** A method, since the application has a proxy of this. */
    void failAt(String payload, int times) {
        this.failuresOf.put(payload, new AtomicInteger(times));
    }

    private boolean fails(String payload) {
        AtomicInteger failures = this.failuresOf.get(payload);
        return failures != null && failures.getAndDecrement() > 0;
    }

    private void process(String payload) {
        this.effects.happen(payload.substring(0, Math.min(payload.length(), 100)));
        if (fails(payload)) {
            throw new IllegalStateException(
                    "failure " + (this.failuresOf.get(payload).get() + 1) + " left");
        }
    }

    private void processAll(List<String> payloads) {
        for (int i = 0; i < payloads.size(); i++) {
            this.effects.happen(payloads.get(i));
            if (fails(payloads.get(i))) {
                throw new BatchListenerFailedException("bad", i);
            }
        }
    }

    @KafkaListener(topics = "any${suffix}", groupId = "any${suffix}")
    @IdempotentListener(consumer = "any", inbox = "true")
    void any(ConsumerRecord<String, Object> record) {}

    @KafkaListener(
            topics = "stripped${suffix}",
            groupId = "stripped${suffix}",
            properties = "value.deserializer=dev.idempotency.inbox.InboxListeners$HeaderRemovingDeserializer")
    @IdempotentListener(consumer = "stripped", inbox = "true")
    void stripped(ConsumerRecord<String, Object> record) {}

    @KafkaListener(topics = "given${suffix}", groupId = "given${suffix}", containerFactory = "givenDeserializers")
    @IdempotentListener(consumer = "given", inbox = "true")
    void given(String payload) {}

    @KafkaListener(topics = "large${suffix}", groupId = "large${suffix}")
    @IdempotentListener(consumer = "large", inbox = "true")
    void large(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "batch${suffix}", groupId = "batch${suffix}", batch = "true")
    @IdempotentListener(consumer = "batch")
    void batch(List<String> payloads) {
        processAll(payloads);
    }

    @KafkaListener(topics = "faultyBatch${suffix}", groupId = "faultyBatch${suffix}", batch = "true")
    @IdempotentListener(consumer = "faultyBatch")
    void faultyBatch(List<String> payloads) {
        processAll(payloads);
    }

    @KafkaListener(topics = "fallible${suffix}", groupId = "fallible${suffix}")
    @IdempotentListener(consumer = "fallible", inbox = "true")
    void fallible(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "deadLettered${suffix}", groupId = "deadLettered${suffix}")
    @IdempotentListener(consumer = "deadLettered", inbox = "true")
    void deadLettered(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "many${suffix}", groupId = "many${suffix}")
    @IdempotentListener(consumer = "many", inbox = "true")
    void many(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "coordinates${suffix}", groupId = "coordinates${suffix}")
    @IdempotentListener(consumer = "coordinates", key = "#coordinates", inbox = "true")
    void coordinates(String payload) {
        process(payload);
    }

    @RetryableTopic(attempts = "3", backOff = @BackOff(delay = 100))
    @KafkaListener(topics = "retried${suffix}", groupId = "retried${suffix}")
    @IdempotentListener(consumer = "retried", inbox = "true")
    void retried(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "unrecorded${suffix}", groupId = "unrecorded${suffix}")
    @IdempotentListener(consumer = "unrecorded", inbox = "true")
    void unrecorded(String payload) {
        process(payload);
    }

    @KafkaListener(topics = "unkept${suffix}", groupId = "unkept${suffix}")
    @IdempotentListener(consumer = "unkept", inbox = "true")
    void unkept(String payload) {
        process(payload);
    }

    @Bean
    static ConcurrentKafkaListenerContainerFactory<Object, Object> givenDeserializers(
            KafkaProperties properties, Environment environment) {
        Map<String, Object> configuration = properties.buildConsumerProperties();
        configuration.put("bootstrap.servers", environment.getRequiredProperty("spring.kafka.bootstrap-servers"));
        DefaultKafkaConsumerFactory<Object, Object> consumers = new DefaultKafkaConsumerFactory<>(configuration);
        consumers.setKeyDeserializerSupplier(TextDeserializer::new);
        consumers.setValueDeserializer(new TextDeserializer());
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        return factory;
    }

    /** As deserializers of JSON do: they remove the headers that told them the type. */
    public static final class HeaderRemovingDeserializer implements Deserializer<String> {

        @Override
        public String deserialize(String topic, byte[] data) {
            return "decoded";
        }

        @Override
        public String deserialize(String topic, Headers headers, byte[] data) {
            headers.remove("ce_type");
            return "decoded";
        }
    }

    private static final class TextDeserializer implements Deserializer<Object> {

        @Override
        public Object deserialize(String topic, byte[] data) {
            return new String(data, StandardCharsets.UTF_8);
        }
    }
}
