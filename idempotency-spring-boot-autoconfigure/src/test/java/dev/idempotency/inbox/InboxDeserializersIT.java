package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.support.serializer.ErrorHandlingDeserializer;

/** The bytes are remembered before deserializers of all kinds, which work as they would without that. */
class InboxDeserializersIT extends SharedApplicationTest {

    private static final String ERROR_HANDLING =
            "value.deserializer=org.springframework.kafka.support.serializer.ErrorHandlingDeserializer";
    private static final String PICKY =
            "spring.deserializer.value.delegate.class=dev.idempotency.inbox.InboxDeserializersIT$Picky";

    @BeforeAll
    void start() {
        createTopics(1, "named", "given", "unkept", "json", "buffer", "class", "batch");
        start(Listeners.class, "idempotency.errors.initial-interval=1ms", "idempotency.errors.max-attempts=1");
    }

    private void sendAll(String kind, String... payloads) {
        send(kind, payloads);
        awaitCaughtUp(kind);
    }

    private InboxMessage message(String consumer, String id) {
        InboxMessage message = this.app.bean(Inbox.class).find(new MessageId(consumer, id));
        assertThat(message).as("message %s of %s", id, consumer).isNotNull();
        return message;
    }

    @Test
    void whatAnErrorHandlingDeserializerCannotReadIsNoTombstone() {
        sendAll("named", "bad", "good");
        assertThat(effectsOf("named")).containsExactly("named good");
        assertThat(TopicContents.values(topic("named") + "-dlt")).containsExactly("bad");
        assertThat(message("named", "good").payload()).isEqualTo("good".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void norIsWhatOneThatTheConsumerFactoryWasGivenCannotRead() {
        sendAll("given", "bad", "good");
        assertThat(effectsOf("given")).containsExactly("given good");
        assertThat(TopicContents.values(topic("given") + "-dlt")).containsExactly("bad");
        assertThat(message("given", "good").payload()).isEqualTo("good".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void norIsItForListenersOfTheSameFactoryWhoseMessagesAreNotKept() {
        sendAll("unkept", "bad", "good");
        assertThat(effectsOf("unkept")).containsExactly("unkept good");
    }

    @Test
    void norIsItForABatch() {
        sendAll("batch", "good", "bad");
        assertThat(effectsOf("batch")).containsExactly("batch good");
        assertThat(TopicContents.values(topic("batch") + "-dlt")).containsExactly("bad");
    }

    @Test
    void headersThatTellTheTypeOfJsonAreKeptThoughItsDeserializerRemovesThem() {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic("json"), "{\"amount\": 12}");
        record.headers().add("message-id", "1".getBytes(StandardCharsets.UTF_8));
        record.headers().add("__TypeId__", Payment.class.getName().getBytes(StandardCharsets.UTF_8));
        this.app.send(record);
        this.app.awaitCaughtUp(topic("json"), topic("json"));
        assertThat(effectsOf("json")).containsExactly("json 12");
        assertThat(message("json", "1").headers()).extracting(Header::key).containsExactly("message-id", "__TypeId__");
        assertThat(message("json", "1").entry().type()).isEqualTo(Payment.class.getName());

        this.app.bean(Inbox.class).forgetAndReplay(new MessageId("json", "1"));
        this.app.awaitCaughtUp(topic("json"), topic("json"));
        assertThat(effectsOf("json")).containsExactly("json 12", "json 12");
    }

    @Test
    void aBufferIsGivenToTheListenerAsItCame() {
        sendAll("buffer", "bytes");
        assertThat(effectsOf("buffer")).containsExactly("buffer bytes");
        assertThat(message("buffer", "bytes").payload()).isEqualTo("bytes".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aDeserializerThatAContainerWasGivenAsAClassIsTheContainersOwn() {
        sendAll("class", "text");
        assertThat(effectsOf("class")).containsExactly("class shouted TEXT");
        assertThat(message("class", "text").payload()).isEqualTo("text".getBytes(StandardCharsets.UTF_8));
    }

    record Payment(int amount) {}

    /** Reads text, except for what is bad. */
    public static class Picky implements Deserializer<Object> {

        @Override
        public Object deserialize(String topic, byte[] data) {
            String text = new String(data, StandardCharsets.UTF_8);
            if (text.equals("bad")) {
                throw new IllegalArgumentException("cannot be read");
            }
            return text;
        }
    }

    public static final class Shouting implements Deserializer<Object> {

        @Override
        public Object deserialize(String topic, byte[] data) {
            return "shouted " + new String(data, StandardCharsets.UTF_8).toUpperCase(Locale.ROOT);
        }
    }

    @Import(Effects.class)
    static class Listeners {

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(
                topics = "named${suffix}",
                groupId = "named${suffix}",
                properties = {ERROR_HANDLING, PICKY})
        @IdempotentListener(consumer = "named", inbox = "true")
        void named(ConsumerRecord<String, String> record) {
            this.effects.happen("named " + record.value());
        }

        @KafkaListener(topics = "given${suffix}", groupId = "given${suffix}", containerFactory = "given")
        @IdempotentListener(consumer = "given", inbox = "true")
        void given(ConsumerRecord<String, String> record) {
            this.effects.happen("given " + record.value());
        }

        @KafkaListener(topics = "unkept${suffix}", groupId = "unkept${suffix}", containerFactory = "given")
        void unkept(ConsumerRecord<String, String> record) {
            this.effects.happen("unkept " + record.value());
        }

        @KafkaListener(
                topics = "batch${suffix}",
                groupId = "batch${suffix}",
                batch = "true",
                properties = {ERROR_HANDLING, PICKY})
        @IdempotentListener(consumer = "batch", inbox = "true")
        void batch(List<ConsumerRecord<String, String>> records) {
            records.forEach(record -> this.effects.happen("batch " + record.value()));
        }

        @KafkaListener(
                topics = "json${suffix}",
                groupId = "json${suffix}",
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                    "spring.json.trusted.packages=dev.idempotency.inbox"
                })
        @IdempotentListener(consumer = "json", inbox = "true")
        void json(Payment payment) {
            this.effects.happen("json " + payment.amount());
        }

        @KafkaListener(
                topics = "buffer${suffix}",
                groupId = "buffer${suffix}",
                properties = "value.deserializer=org.apache.kafka.common.serialization.ByteBufferDeserializer")
        @IdempotentListener(consumer = "buffer", inbox = "true")
        void buffer(ConsumerRecord<String, ByteBuffer> record) {
            this.effects.happen("buffer " + StandardCharsets.UTF_8.decode(record.value()));
        }

        @KafkaListener(topics = "class${suffix}", groupId = "class${suffix}", containerPostProcessor = "shouting")
        @IdempotentListener(consumer = "class", inbox = "true")
        void ofClass(ConsumerRecord<String, String> record) {
            this.effects.happen("class " + record.value());
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> shouting() {
            return container -> container
                    .getContainerProperties()
                    .getKafkaConsumerProperties()
                    .put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, Shouting.class);
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> given(
                KafkaProperties properties, Environment environment) {
            Map<String, Object> configuration = properties.buildConsumerProperties();
            configuration.put("bootstrap.servers", environment.getRequiredProperty("spring.kafka.bootstrap-servers"));
            DefaultKafkaConsumerFactory<Object, Object> consumers = new DefaultKafkaConsumerFactory<>(configuration);
            consumers.setKeyDeserializerSupplier(() -> new ErrorHandlingDeserializer<>(new AnyText()));
            consumers.setValueDeserializerSupplier(() -> new ErrorHandlingDeserializer<>(new Picky()));
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            return factory;
        }
    }

    private static final class AnyText implements Deserializer<Object> {

        private final StringDeserializer text = new StringDeserializer();

        @Override
        public Object deserialize(String topic, byte[] data) {
            return this.text.deserialize(topic, data);
        }
    }
}
