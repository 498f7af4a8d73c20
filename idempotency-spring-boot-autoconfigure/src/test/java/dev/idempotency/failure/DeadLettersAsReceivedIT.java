package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.testing.TestKafka;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

/** A dead letter is what was received, byte for byte, also if it could not be read. */
class DeadLettersAsReceivedIT extends SharedApplicationTest {

    private static final byte[] NO_TEXT = {'p', (byte) 0xE4, (byte) 0xFF, 0, (byte) 0xC3};

    @BeforeAll
    void start() {
        createTopics(1, "records", "batches", "polls", "given", "filtered", "keys", "asking", "beside", "latin");
        createTopics(1, "foreign", "orders", "replaced");
        createTopics(3, "wide");
        start(
                Application.class,
                "spring.kafka.consumer.value-deserializer=" + PickyDeserializer.class.getName(),
                "management.endpoints.web.exposure.include=idempotency",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.max-interval=200ms",
                "idempotency.errors.outage.max-interval=200ms",
                "idempotency.errors.max-attempts=2");
    }

    private void sendBytes(String kind, String id, byte[] key, byte[] value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic(kind), key, value);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        record.headers().add("trace", NO_TEXT);
        Map<String, Object> configuration =
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, TestKafka.bootstrapServers());
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(configuration, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(record).get(30, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> deadLetters(String kind) {
        return TopicContents.inBytes(topic(kind) + "-dlt");
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls", "given", "filtered"})
    void whatCannotBeReadIsDeadLetteredByteForByteAndTheOthersAreApplied(String kind) {
        send(kind, kind + " one");
        sendBytes(kind, "unreadable", NO_TEXT, bytes("garbled \u00e4"));
        send(kind, kind + " two", "garbled too", "garbled again");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " one", kind + " two");
        List<ConsumerRecord<byte[], byte[]>> letters = deadLetters(kind);
        assertThat(letters)
                .extracting(letter -> new String(letter.value(), StandardCharsets.UTF_8))
                .containsExactly("garbled \u00e4", "garbled too", "garbled again");
        ConsumerRecord<byte[], byte[]> letter = letters.get(0);
        assertThat(letter.key()).isEqualTo(NO_TEXT);
        assertThat(letter.headers().lastHeader("trace").value()).isEqualTo(NO_TEXT);
        assertThat(header(letter, "message-id")).isEqualTo("unreadable");
        assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic(kind));
        assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("cannot read this");
        assertThat(letter.headers()).extracting(Header::key).noneMatch(name -> name.startsWith("springDeserializer"));
    }

    @Test
    void aKeyThatCannotBeReadIsDeadLetteredByteForByte() {
        sendBytes("keys", "unreadable", bytes("garbled key"), NO_TEXT);
        send("keys", "keys readable");
        awaitCaughtUp("keys");
        assertThat(effectsOf("keys")).containsExactly("keys readable");
        assertThat(deadLetters("keys")).singleElement().satisfies(letter -> {
            assertThat(letter.key()).isEqualTo(bytes("garbled key"));
            assertThat(letter.value()).isEqualTo(NO_TEXT);
        });
    }

    @Test
    void whatCannotBeReadAndCannotBeDeadLetteredIsNotSkipped() throws Exception {
        TestKafka.createTopics(1, topic("asking") + "-dlt");
        limitMessageSize(topic("asking") + "-dlt", "100");
        try (FailureLog log = new FailureLog(FailureLog.ALL)) {
            send("asking", "garbled", "asking behind");
            await().until(() ->
                    log.linesWithExceptions().stream().anyMatch(line -> line.contains("See that the topic")));
            assertThat(effectsOf("asking")).doesNotContain("asking behind");
            assertThat(refusedDeadLetters()).isOne();
            Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(IdempotencyHealthIndicator.DEGRADED);
            assertThat(health.getDetails().get("waitingForDeadLetters"))
                    .asString()
                    .contains("consumer=asking", topic("asking") + "-dlt", RecordTooLargeException.class.getName());
            assertThat(this.app.bean(IdempotencyEndpoint.class).read("asking", null))
                    .asString()
                    .contains("awaited=DEAD_LETTERS");
        } finally {
            limitMessageSize(topic("asking") + "-dlt", "1000000");
        }
        awaitCaughtUp("asking");
        assertThat(effectsOf("asking")).contains("asking behind");
        assertThat(deadLetters("asking")).hasSize(1);
        assertThat(refusedDeadLetters()).isZero();
        assertThat(this.app.bean(OutageRegistry.class).current()).isEmpty();
    }

    private double refusedDeadLetters() {
        return this.app
                .bean(MeterRegistry.class)
                .get(IdempotencyMeters.DEAD_LETTERS_REFUSED)
                .tag("consumer", "asking")
                .gauge()
                .value();
    }

    @Test
    void aDeserializerThatGetsNoAnswerIsWaitedFor() {
        send("asking", "asking somebody who is away", "asking nobody");
        awaitCaughtUp("asking");
        assertThat(effectsOf("asking")).containsOnlyOnce("asking somebody who is away", "asking nobody");
        assertThat(deadLetters("asking"))
                .noneMatch(letter -> new String(letter.value(), StandardCharsets.UTF_8).startsWith("asking"));
    }

    @Test
    void aListenerThatIsNotProtectedIsLeftAlone() {
        send("beside", "garbled beside");
        await().until(() -> !this.app.bean(Application.class).beside.isEmpty());
        assertThat(this.app.bean(Application.class).beside.get(0)).isInstanceOf(RecordDeserializationException.class);
    }

    @Test
    void textIsDeadLetteredByteForByteInWhateverEncoding() {
        sendBytes("latin", "poison", NO_TEXT, NO_TEXT);
        awaitCaughtUp("latin");
        assertThat(deadLetters("latin")).singleElement().satisfies(letter -> {
            assertThat(letter.key()).isEqualTo(NO_TEXT);
            assertThat(letter.value()).isEqualTo(NO_TEXT);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"foreign", "replaced"})
    void whateverFactoryOrInterceptorThereIsTheMessageIsDeadLettered(String kind) {
        send(kind, "poison");
        awaitCaughtUp(kind);
        assertThat(deadLetters(kind)).singleElement().satisfies(letter -> {
            assertThat(letter.value()).isEqualTo(bytes("poison"));
            assertThat(header(letter, "message-id")).isEqualTo("poison");
        });
    }

    @Test
    void whatTheListenerDoesToItsPayloadAndHeadersIsNotInTheDeadLetter() {
        String order = "{\"status\":\"NEW\", \"unknown\": [1,  2]}";
        ProducerRecord<String, String> record = new ProducerRecord<>(topic("orders"), order);
        record.headers().add("message-id", bytes("1"));
        record.headers().add("__TypeId__", bytes(Order.class.getName()));
        record.headers().add("written", bytes("before"));
        this.app.send(record);
        awaitCaughtUp("orders");
        assertThat(deadLetters("orders")).singleElement().satisfies(letter -> {
            assertThat(letter.value()).isEqualTo(bytes(order));
            assertThat(header(letter, "__TypeId__")).isEqualTo(Order.class.getName());
            assertThat(header(letter, "message-id")).isEqualTo("1");
            assertThat(header(letter, "written")).isEqualTo("before");
            assertThat(letter.headers().lastHeader("added")).isNull();
        });
    }

    @Test
    void aDeadLetterTopicWithFewerPartitionsIsNotWarnedOf() {
        // Before any message has had a key, one without is waited with.
        send("wide", "with a key");
        awaitCaughtUp("wide");
        try (FailureLog log = new FailureLog(FailureLog.ALL)) {
            this.app.send(new ProducerRecord<>(topic("wide"), 2, "key", "keyless"));
            awaitCaughtUp("wide");
            assertThat(deadLetters("wide")).hasSize(1);
            assertThat(log.lines()).noneMatch(line -> line.contains("non-existent partition"));
            assertThat(log.lines()).anyMatch(line -> line.contains("gave up"));
        }
    }

    /** Payloads that know what became of them. */
    public static class Order {

        public String status;
    }

    /** Asks somebody who does not answer at first. */
    public static class AskingDeserializer extends PickyDeserializer {

        private static final AtomicInteger ASKED = new AtomicInteger();

        @Override
        public String deserialize(String topic, byte[] data) {
            String text = super.deserialize(topic, data);
            if (text != null && text.endsWith("away") && ASKED.incrementAndGet() < 4) {
                throw new SerializationException("no schema", new ConnectException("refused"));
            }
            return text;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Listeners.class, SimpleMeterRegistry.class})
    static class Application {

        /** Failures of the listener that is not protected. */
        final List<Exception> beside = new CopyOnWriteArrayList<>();

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConsumerFactory<? super Object, ? super Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> kafkaListenerContainerFactory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            return factory;
        }

        /** Does without tombstones. */
        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> filtering(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setRecordFilterStrategy(record -> record.value() == null);
            return factory;
        }

        /** A consumer factory that is none of Spring's. */
        @Bean
        @SuppressWarnings("unchecked")
        ConcurrentKafkaListenerContainerFactory<Object, Object> foreign(ConsumerFactory<Object, Object> consumers) {
            return factory((ConsumerFactory<Object, Object>) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {ConsumerFactory.class},
                    (proxy, method, arguments) -> method.invoke(consumers, arguments)));
        }

        /** Deserializers that are objects, for all containers of this factory. */
        @Bean
        @SuppressWarnings({"unchecked", "rawtypes"})
        ConcurrentKafkaListenerContainerFactory<Object, Object> given(ConsumerFactory<Object, Object> consumers) {
            DefaultKafkaConsumerFactory factory =
                    new DefaultKafkaConsumerFactory(consumers.getConfigurationProperties());
            factory.setValueDeserializer(new PickyDeserializer());
            return factory(factory);
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> beside(
                ConcurrentKafkaListenerContainerFactory<Object, Object> given) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(given.getConsumerFactory());
            factory.setCommonErrorHandler(new CommonErrorHandler() {

                @Override
                public void handleOtherException(
                        Exception thrown,
                        Consumer<?, ?> consumer,
                        MessageListenerContainer container,
                        boolean batchListener) {
                    Application.this.beside.add(thrown);
                    container.stop(() -> {});
                }
            });
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> replacing(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setRecordInterceptor((record, consumer) -> {
                ConsumerRecord<Object, Object> other = new ConsumerRecord<>(
                        record.topic(), record.partition(), record.offset(), record.key(), "another poison");
                other.headers().add("message-id", bytes("another"));
                return other;
            });
            return factory;
        }
    }

    static class Listeners extends ListenersOfKinds {

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @Override
        void on(String payload) {
            this.effects.happen(payload);
        }

        private static void fail() {
            throw new IllegalStateException("on purpose");
        }

        @KafkaListener(
                topics = "filtered${suffix}",
                groupId = "filtered${suffix}",
                batch = "true",
                containerFactory = "filtering")
        @IdempotentListener("filtered")
        void filtered(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @KafkaListener(
                topics = "keys${suffix}",
                groupId = "keys${suffix}",
                properties = "key.deserializer=dev.idempotency.failure.PickyDeserializer")
        @IdempotentListener("keys")
        void keys(String payload) {
            on(payload);
        }

        @KafkaListener(topics = "given${suffix}", groupId = "given${suffix}", containerFactory = "given")
        @IdempotentListener("given")
        void given(String payload) {
            on(payload);
        }

        @KafkaListener(topics = "beside${suffix}", groupId = "beside${suffix}", containerFactory = "beside")
        void beside(String payload) {}

        @KafkaListener(
                topics = "asking${suffix}",
                groupId = "asking${suffix}",
                properties = "value.deserializer=dev.idempotency.failure.DeadLettersAsReceivedIT$AskingDeserializer")
        @IdempotentListener("asking")
        void asking(String payload) {
            on(payload);
        }

        @KafkaListener(
                topics = "latin${suffix}",
                groupId = "latin${suffix}",
                properties = {
                    "value.deserializer=org.apache.kafka.common.serialization.StringDeserializer",
                    "key.deserializer.encoding=ISO-8859-1",
                    "value.deserializer.encoding=ISO-8859-1",
                })
        @IdempotentListener("latin")
        void latin(String payload) {
            fail();
        }

        @KafkaListener(topics = "foreign${suffix}", groupId = "foreign${suffix}", containerFactory = "foreign")
        @IdempotentListener("foreign")
        void foreign(String payload) {
            fail();
        }

        @KafkaListener(
                topics = "orders${suffix}",
                groupId = "orders${suffix}",
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                    "spring.json.trusted.packages=dev.idempotency.failure"
                })
        @IdempotentListener("orders")
        void orders(ConsumerRecord<String, Order> record) {
            record.value().status = "ACCEPT";
            record.headers().lastHeader("written").value()[0] = '!';
            record.headers().remove("message-id").add("added", bytes("by the listener"));
            fail();
        }

        @KafkaListener(topics = "replaced${suffix}", groupId = "replaced${suffix}", containerFactory = "replacing")
        @IdempotentListener("replaced")
        void replaced(String payload) {
            fail();
        }

        @KafkaListener(topics = "wide${suffix}", groupId = "wide${suffix}")
        @IdempotentListener("wide")
        void wide(String payload) {
            on(payload);
        }
    }
}
