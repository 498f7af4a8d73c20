package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.observe.ConsumerDescription;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Component;

class ListenerSignaturesIT extends ApplicationTest {

    private static final String INVOICE = "{\"id\":\"i-1\"}";
    private static final String PAYMENT = "{\"paymentId\":\"p-1\",\"amount\":5}";

    @Test
    void everySignatureThatSpringKafkaAllowsIsProtected() {
        try (TestApplication app = start(
                List.of("consumer-name=named by a placeholder", "key-property=paymentId"),
                Signatures.class,
                Handlers.class,
                Outcomes.class)) {
            for (int i = 0; i < 3; i++) {
                app.send(this.topic, "1", PAYMENT);
            }
            Set<String> groups = new TreeSet<>();
            for (ConsumerDescription consumer : app.bean(Outcomes.class).consumers) {
                app.awaitCaughtUp(consumer.groupId(), this.topic);
                groups.add(consumer.groupId());
            }
            assertThat(groups).hasSize(9);
            assertThat(app.bean(Effects.class).all())
                    .containsExactlyInAnyOrder(
                            "record at 0",
                            "message " + PAYMENT,
                            "headers 1 1 " + this.topic,
                            "consumer " + PAYMENT + " 0",
                            "bytes " + PAYMENT,
                            "pojo 5",
                            "meta " + PAYMENT,
                            "json path " + PAYMENT,
                            "handler " + PAYMENT);
            assertThat(app.bean(Outcomes.class).consumers)
                    .extracting(ConsumerDescription::name)
                    .contains("named by a placeholder", "named by my annotation", "Handlers");
        }
    }

    @Test
    void aTombstoneIsAMessageLikeAnyOther() {
        try (TestApplication app = start(Tombstones.class)) {
            app.send(this.topic, "1", null);
            app.send(this.topic, "1", null);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("nothing");
        }
    }

    @Test
    void headersThatStandBeforeThePayloadAreNotTakenForIt() {
        try (TestApplication app = start(HeadersFirst.class)) {
            app.send(this.topic, "1", INVOICE);
            app.send(this.topic, "2", INVOICE);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("i-1");
        }
    }

    public record Invoice(String id) {}

    @Import(Effects.class)
    static class HeadersFirst {

        private final Effects effects;

        HeadersFirst(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(
                topics = "${topic}",
                groupId = "${group}",
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                    "spring.json.use.type.headers=false",
                    "spring.json.value.default.type=dev.idempotency.listener.ListenerSignaturesIT$Invoice"
                })
        @IdempotentListener(key = "#payload.id")
        void on(MessageHeaderAccessor headers, Invoice invoice) {
            this.effects.happen(invoice.id());
        }
    }

    @Test
    void aListenerBehindAnInterfaceProxyIsProtected() {
        try (TestApplication app = start(List.of("spring.aop.proxy-target-class=false"), InterfaceListener.class)) {
            assertThat(app.bean(Listens.class)).isInstanceOf(java.lang.reflect.Proxy.class);
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
        }
    }

    @Test
    void aDuplicateSendsNoReplyWhateverItsMethodReturns() {
        String toString = "org.springframework.kafka.support.serializer.ToStringSerializer";
        try (TestApplication app =
                start(List.of("spring.kafka.producer.value-serializer=" + toString), Replies.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "bc");
            app.awaitCaughtUp(this.group, this.topic);
            app.awaitCaughtUp(this.group + "-batch", this.topic);
        }
        // Nobody waits for the broker to have a reply, but an application that is closed has sent them all.
        assertThat(TopicContents.values(this.topic + "-replies")).containsExactly("1", "2");
        assertThat(TopicContents.values(this.topic + "-batch-replies")).containsOnly("true");
    }

    static class Replies {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @SendTo("${topic}-replies")
        int on(String payload) {
            return payload.length();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-batch", batch = "true")
        @IdempotentListener
        @SendTo("${topic}-batch-replies")
        boolean onBatch(List<String> payloads) {
            return true;
        }
    }

    @Test
    void whatTheFactoryWasGivenKeepsWorking() {
        try (TestApplication app = start(CustomFactory.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "filtered");
            app.send(this.topic, "3", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a, intercepted", "b, intercepted");
            assertThat(app.bean(CustomFactory.class).seen()).containsExactly("customizer", "post-processor");
        }
    }

    @Import(Effects.class)
    static class Signatures {

        private final Effects effects;

        Signatures(Effects effects) {
            this.effects = effects;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> json(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            factory.setRecordMessageConverter(new StringJacksonJsonMessageConverter());
            return factory;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-record")
        @IdempotentListener
        void record(ConsumerRecord<String, String> record) {
            this.effects.happen("record at " + record.offset());
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-message")
        @IdempotentListener
        void message(Message<String> message) {
            this.effects.happen("message " + message.getPayload());
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-headers")
        @IdempotentListener(key = "#id")
        void headers(
                @Header("message-id") String id,
                @Headers Map<String, Object> headers,
                @Header(KafkaHeaders.RECEIVED_TOPIC) String topic,
                @Payload String payload) {
            String fromMap = new String((byte[]) headers.get("message-id"), StandardCharsets.UTF_8);
            this.effects.happen("headers " + id + " " + fromMap + " " + topic);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-consumer")
        @IdempotentListener(consumer = "${consumer-name}")
        void consumer(ConsumerRecordMetadata metadata, Consumer<?, ?> consumer, String payload) {
            assertThat(consumer.assignment()).isNotEmpty();
            this.effects.happen("consumer " + payload + " " + metadata.offset());
        }

        @KafkaListener(
                topics = "${topic}",
                groupId = "${group}-bytes",
                properties = "value.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer")
        @IdempotentListener(key = "#jsonPath(#payload, '$.${key-property}')")
        void bytes(byte[] payload) {
            this.effects.happen("bytes " + new String(payload, StandardCharsets.UTF_8));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-pojo", containerFactory = "json")
        @IdempotentListener(key = "#payload.paymentId")
        void pojo(Payment payment) {
            this.effects.happen("pojo " + payment.amount());
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-meta")
        @Once("named by my annotation")
        void meta(String payload) {
            this.effects.happen("meta " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-json")
        @IdempotentListener(key = "#jsonPath(#payload, '$.paymentId') + '/' + #headers['message-id']")
        void jsonPath(String payload) {
            this.effects.happen("json path " + payload);
        }
    }

    public record Payment(String paymentId, int amount) {}

    @Retention(RetentionPolicy.RUNTIME)
    @IdempotentListener
    @interface Once {

        @AliasFor(annotation = IdempotentListener.class, attribute = "consumer")
        String value();
    }

    @Component
    @KafkaListener(topics = "${topic}", groupId = "${group}-handlers")
    @IdempotentListener(consumer = "Handlers")
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @KafkaHandler
        void onText(String payload) {
            this.effects.happen("handler " + payload);
        }

        @KafkaHandler
        void onNumber(Integer payload) {
            this.effects.happen("wrong handler");
        }
    }

    @Import(Effects.class)
    static class Tombstones {

        private final Effects effects;

        Tombstones(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(@Payload(required = false) String payload) {
            this.effects.happen((payload == null) ? "nothing" : payload);
        }
    }

    interface Listens {

        void on(String payload);
    }

    @Import(Effects.class)
    static class InterfaceListener implements Listens {

        private final Effects effects;

        InterfaceListener(Effects effects) {
            this.effects = effects;
        }

        @Override
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        public void on(String payload) {
            this.effects.happen(payload);
        }
    }

    @Import(Effects.class)
    static class CustomFactory {

        private static final Set<String> SEEN = new TreeSet<>();

        private final Effects effects;

        CustomFactory(Effects effects) {
            this.effects = effects;
        }

        Set<String> seen() {
            return SEEN;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<String, String> custom(
                ConsumerFactory<String, String> consumers) {
            ConcurrentKafkaListenerContainerFactory<String, String> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            factory.setRecordFilterStrategy(filter());
            factory.setRecordInterceptor(interceptor());
            factory.setContainerCustomizer(container -> SEEN.add("customizer"));
            return factory;
        }

        private static RecordFilterStrategy<String, String> filter() {
            return record -> record.value().startsWith("filtered");
        }

        private static RecordInterceptor<String, String> interceptor() {
            return (record, consumer) -> {
                ConsumerRecord<String, String> changed = new ConsumerRecord<>(
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        record.key(),
                        record.value() + ", intercepted");
                record.headers().forEach(changed.headers()::add);
                return changed;
            };
        }

        @Bean
        static ContainerPostProcessor<String, String, AbstractMessageListenerContainer<String, String>> mine() {
            return container -> SEEN.add("post-processor");
        }

        @KafkaListener(
                topics = "${topic}",
                groupId = "${group}",
                containerFactory = "custom",
                containerPostProcessor = "mine")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
