package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.testing.TestKafka;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

/** Dead letters equal the received records byte for byte, even unreadable ones; outages are reported. */
@ExtendWith(OutputCaptureExtension.class)
class FailureHandlingIT extends SharedApplicationTest {

    private static final int MAX_ATTEMPTS = 3;
    private static final byte[] NO_TEXT = {'p', (byte) 0xE4, (byte) 0xFF, 0, (byte) 0xC3};

    @BeforeAll
    void start() {
        createTopics(1, "records", "batches", "polls", "given", "filtered", "keys", "asking", "beside", "orders");
        createTopics(1, "handlers", "unconfigured");
        createTopics(3, "wide");
        start(
                Application.class,
                "management.endpoints.web.exposure.include=idempotency",
                "spring.datasource.hikari.connection-timeout=500",
                "spring.kafka.consumer.value-deserializer=" + PickyDeserializer.class.getName(),
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                "idempotency.errors.outage.max-interval=200ms");
        await("the consumer of records").until(() -> consumer("records") != containerOf("records"));
    }

    private TopicPartition partition(String kind) {
        return new TopicPartition(topic(kind), 0);
    }

    private MessageListenerContainer consumer(String kind) {
        return containerOf(kind).getContainerFor(topic(kind), 0);
    }

    private void sendBytes(String kind, String id, byte[] key, byte[] value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic(kind), key, value);
        record.headers().add("message-id", bytes(id));
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

    private int effects(String payload) {
        return this.app.bean(Effects.class).counts().getOrDefault(payload, 0);
    }

    /** The dead letters of messages whose id starts with {@code id}. */
    private List<ConsumerRecord<byte[], byte[]>> deadLetters(String kind, String id) {
        return TopicContents.inBytes(topic(kind) + "-dlt").stream()
                .filter(letter -> header(letter, "message-id").startsWith(id))
                .toList();
    }

    private double meter(String name, String kind) {
        return this.app.bean(MeterRegistry.class).get(name).tag("consumer", kind).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null && header.value() != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls", "given", "unconfigured", "filtered"})
    void whatCannotBeReadIsDeadLetteredByteForByteAndTheOthersAreApplied(String kind) {
        send(kind, "before " + kind);
        sendBytes(kind, "garbled first", NO_TEXT, bytes("garbled \u00e4"));
        send(kind, "after " + kind, "garbled again");
        awaitCaughtUp(kind);
        assertThat(effects("before " + kind) + effects("after " + kind)).isEqualTo(2);
        List<ConsumerRecord<byte[], byte[]>> letters = deadLetters(kind, "garbled");
        assertThat(letters)
                .extracting(letter -> new String(letter.value(), StandardCharsets.UTF_8))
                .containsExactly("garbled \u00e4", "garbled again");
        ConsumerRecord<byte[], byte[]> letter = letters.get(0);
        assertThat(letter.key()).isEqualTo(NO_TEXT);
        assertThat(letter.headers().lastHeader("trace").value()).isEqualTo(NO_TEXT);
        assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic(kind));
        assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("cannot read this");
        assertThat(letter.headers()).extracting(Header::key).noneMatch(name -> name.startsWith("springDeserializer"));
    }

    @Test
    void aKeyThatCannotBeReadIsDeadLetteredByteForByte() {
        sendBytes("keys", "unreadable", bytes("garbled key"), NO_TEXT);
        send("keys", "after keys");
        awaitCaughtUp("keys");
        assertThat(effects("after keys")).isOne();
        assertThat(deadLetters("keys", "")).singleElement().satisfies(letter -> {
            assertThat(letter.key()).isEqualTo(bytes("garbled key"));
            assertThat(letter.value()).isEqualTo(NO_TEXT);
        });
    }

    @Test
    void aFailureThatIsTooLargeForADeadLetterIsAbridged() {
        ProducerRecord<String, String> large = new ProducerRecord<>(topic("records"), "verbose large");
        large.headers().add("message-id", bytes("large")).add("ballast", new byte[960_000]);
        this.app.send(large);
        send("records", "verbose", "after verbose");
        awaitCaughtUp("records");
        assertThat(effects("after verbose")).isOne();
        assertThat(deadLetters("records", "large")).hasSize(1);
        assertThat(deadLetters("records", "verbose")).singleElement().satisfies(letter -> assertThat(
                        header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE))
                .contains("Exception"));
    }

    @Test
    void aDeadLetterThatIsRefusedIsShownUntilItIsPublishedAndItsMessageIsNotSkipped(CapturedOutput output)
            throws Exception {
        String consumer = topic("asking") + "/Listeners.any";
        TestKafka.createTopics(1, topic("asking") + "-dlt");
        limitMessageSize(topic("asking") + "-dlt", "100");
        try {
            send("asking", "garbled", "after garbled");
            await().until(() -> output.toString().contains("See that the topic"));
            assertThat(effects("after garbled")).isZero();
            assertThat(meter(IdempotencyMeters.DEAD_LETTERS_REFUSED, consumer)).isOne();
            Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(IdempotencyHealthIndicator.DEGRADED);
            assertThat(health.getDetails().get("waitingForDeadLetters"))
                    .asString()
                    .contains(
                            "consumer=" + consumer, topic("asking") + "-dlt", RecordTooLargeException.class.getName());
            assertThat(this.app.bean(IdempotencyEndpoint.class).read(consumer, null))
                    .asString()
                    .contains("awaited=DEAD_LETTERS");
        } finally {
            limitMessageSize(topic("asking") + "-dlt", "1000000");
        }
        awaitCaughtUp("asking");
        assertThat(effects("after garbled")).isOne();
        assertThat(deadLetters("asking", "garbled")).hasSize(1);
        assertThat(meter(IdempotencyMeters.DEAD_LETTERS_REFUSED, consumer)).isZero();
        assertThat(this.app.bean(OutageRegistry.class).current()).isEmpty();
    }

    @Test
    void aListenerThatIsNotProtectedIsLeftAloneThoughItsConsumerFactoryIsShared(CapturedOutput output) {
        send("beside", "garbled beside");
        await().until(() -> output.toString().contains("consider configuring an 'ErrorHandlingDeserializer'"));
        containerOf("beside").stop();
        assertThat(containerOf("beside").getCommonErrorHandler() instanceof SuspendingErrorHandler)
                .isFalse();
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
        assertThat(deadLetters("orders", "1")).singleElement().satisfies(letter -> {
            assertThat(letter.value()).isEqualTo(bytes(order));
            assertThat(header(letter, "__TypeId__")).isEqualTo(Order.class.getName());
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP)).isEqualTo(topic("orders"));
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN))
                    .isEqualTo(IllegalStateException.class.getName());
            assertThat(header(letter, "written")).isEqualTo("before");
            assertThat(letter.headers().lastHeader("added")).isNull();
        });
        assertThat(meter(IdempotencyMeters.DEAD_LETTERS, "orders")).isOne();
        assertThat(meter(IdempotencyMeters.RETRIES, "orders")).isEqualTo(MAX_ATTEMPTS - 1);
    }

    @Test
    void aDeadLetterTopicWithFewerPartitionsIsNotWarnedOf(CapturedOutput output) {
        // Until a message has had a key, the consumer waits at a message without one.
        send("wide", "before wide");
        awaitCaughtUp("wide");
        this.app.send(new ProducerRecord<>(topic("wide"), 2, "key", "keyless"));
        awaitCaughtUp("wide");
        assertThat(deadLetters("wide", "")).hasSize(1);
        assertThat(output).doesNotContain("non-existent partition").contains("after its last attempt");
    }

    @Test
    void anOutageIsShownAndLoggedOnceWhenItBeginsAndOnceWhenItEnds(CapturedOutput output) {
        this.database.goAway();
        send("records", "after outage");
        await().until(() -> meter(IdempotencyMeters.OUTAGE, "records") == 1);
        double retries = meter(IdempotencyMeters.RETRIES, "records");
        await().until(() -> meter(IdempotencyMeters.RETRIES, "records") > retries + 1);
        await().until(() -> consumer("records").isPartitionPaused(partition("records")));
        Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails().get("waitingForDatabase")).asString().contains("consumer=records");
        this.database.comeBack();
        awaitCaughtUp("records");
        await().until(() -> meter(IdempotencyMeters.OUTAGE, "records") == 0);
        assertThat(output)
                .containsOnlyOnce("'records' waits for the database at " + topic("records"))
                .containsOnlyOnce("no longer waits");
        assertThat(effects("after outage")).isOne();
        await().until(() -> !consumer("records").isPartitionPauseRequested(partition("records")));
    }

    @Test
    void anOutageOfOneOfSeveralHandlersEnds() {
        this.database.goAway();
        send("handlers", "handled");
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        await().until(() ->
                outages.current().stream().anyMatch(outage -> outage.consumer().startsWith("handler")));
        this.database.comeBack();
        awaitCaughtUp("handlers");
        await().until(() -> outages.current().isEmpty());
    }

    @Test
    void aContainerThatTheApplicationHasPausedStaysPaused() {
        containerOf("records").pause();
        try (ConsumerPauses pauses = new ConsumerPauses()) {
            await().until(() -> consumer("records").isContainerPaused());
            pauses.pause(containerOf("records"), partition("records"), true, Duration.ofMillis(1));
            await().until(() -> !consumer("records").isPartitionPauseRequested(partition("records")));
            assertThat(consumer("records").isPauseRequested()).isTrue();
        } finally {
            containerOf("records").resume();
        }
    }

    @Test
    void aPauseWhileTheApplicationShutsDownIsNoError() {
        ConsumerPauses pauses = new ConsumerPauses();
        pauses.close();
        pauses.pause(containerOf("beside"), partition("beside"), true, Duration.ofMillis(1));
    }

    /** A payload that is changed by its listener. */
    public static class Order {

        public String status;
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Listeners.class, Handlers.class, SimpleMeterRegistry.class})
    static class Application {

        @Bean
        ContainerFactory kafkaListenerContainerFactory(ContainerFactory plain) {
            return plain;
        }

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> ackModes() {
            return container -> {
                if ("records".equals(container.getListenerId())) {
                    container.getContainerProperties().setAckMode(AckMode.RECORD);
                }
            };
        }

        /** Discards tombstones. */
        @Bean
        ContainerFactory filtering(ContainerFactory plain) {
            return plain.with(factory -> factory.setRecordFilterStrategy(record -> record.value() == null));
        }

        /** A factory with a deserializer instance that all of its containers share. */
        @Bean
        ContainerFactory given(ContainerFactory plain, ConsumerFactory<Object, Object> consumers) {
            return plain.with(factory -> factory.setConsumerFactory(giving(consumers, true)));
        }

        /** A factory with a deserializer instance that is not configured. */
        @Bean
        ContainerFactory unconfigured(ContainerFactory plain, ConsumerFactory<Object, Object> consumers) {
            return plain.with(factory -> factory.setConsumerFactory(giving(consumers, false)));
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static ConsumerFactory<Object, Object> giving(
                ConsumerFactory<Object, Object> consumers, boolean configured) {
            DefaultKafkaConsumerFactory given = new DefaultKafkaConsumerFactory(consumers.getConfigurationProperties());
            given.setValueDeserializer(new PickyDeserializer());
            given.setConfigureDeserializers(configured);
            return given;
        }
    }

    /** Two consumers behind one container. */
    @KafkaListener(id = "handlers", topics = "handlers${suffix}", groupId = "handlers${suffix}")
    static class Handlers {

        @KafkaHandler
        @IdempotentListener("handler of numbers")
        void on(Integer number) {}

        @KafkaHandler
        @IdempotentListener("handler of texts")
        void on(String text) {}
    }

    static class Listeners extends ListenersOfKinds {

        /** The first word of a payload decides whether it fails. */
        @Override
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("verbose")) {
                throw new IllegalStateException(payload + ".".repeat(2_000_000));
            }
            if (!payload.startsWith("before") && !payload.startsWith("after")) {
                throw new IllegalStateException(payload);
            }
        }

        @KafkaListener(
                topics = "keys${suffix}",
                groupId = "keys${suffix}",
                properties = "key.deserializer=dev.idempotency.internal.failure.PickyDeserializer")
        @KafkaListener(topics = "asking${suffix}", groupId = "asking${suffix}")
        @KafkaListener(topics = "given${suffix}", groupId = "given${suffix}", containerFactory = "given")
        @KafkaListener(
                topics = "unconfigured${suffix}",
                groupId = "unconfigured${suffix}",
                containerFactory = "unconfigured")
        @KafkaListener(topics = "wide${suffix}", groupId = "wide${suffix}")
        @IdempotentListener
        void any(String payload) {
            on(payload);
        }

        @KafkaListener(
                topics = "filtered${suffix}",
                groupId = "filtered${suffix}",
                containerFactory = "filtering",
                batch = "true")
        @IdempotentListener
        void anyBatch(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @OfKind(
                value = "orders",
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                    "spring.json.trusted.packages=dev.idempotency.internal.failure"
                })
        void orders(ConsumerRecord<String, Order> record) {
            record.value().status = "ACCEPT";
            record.headers().lastHeader("written").value()[0] = '!';
            record.headers().remove("message-id").add("added", bytes("by the listener"));
            throw new IllegalStateException("on purpose");
        }

        @KafkaListener(id = "beside", topics = "beside${suffix}", groupId = "beside", containerFactory = "given")
        void beside(String payload) {}
    }
}
