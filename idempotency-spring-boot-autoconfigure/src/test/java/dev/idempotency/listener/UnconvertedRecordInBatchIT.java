package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestKafka;
import java.io.IOException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListenerConfigurer;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.converter.BatchMessagingMessageConverter;
import org.springframework.kafka.support.converter.JacksonJsonMessageConverter;
import org.springframework.kafka.support.converter.MessagingMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;

/** Records that fail before the listener is reached. */
class UnconvertedRecordInBatchIT extends OneBatchTest {

    @Test
    void whatCannotBeConvertedIsGivenUpAlone() {
        try (TestApplication app =
                startWith(List.of(), Converted.class, "1:{\"name\":\"a\"}", "2:garbage", "3:{\"name\":\"c\"}")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("garbage");
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void whatFailsInAConversionAValidationOrAFilterIsGivenUpAloneAndTheLogHoldsNoPayload(CapturedOutput output) {
        try (TestApplication app = startWith(
                List.of(), Refused.class, "1:{\"name\":\"a\"}", "2:garbage", "2:again", "3:{\"name\":\"c\"}")) {
            for (String kind : List.of("message", "batch", "validated", "filtered", "failing", "manual")) {
                app.awaitCaughtUp(this.group + kind, this.topic);
                assertThat(app.bean(Effects.class).all())
                        .filteredOn(effect -> effect.startsWith(kind))
                        .containsExactly(kind + " {\"name\":\"a\"}", kind + " {\"name\":\"c\"}");
            }
            assertThat(deadLetters()).containsOnly("garbage", "again").hasSize(12);
        }
        assertThat(output.toString().lines().filter(line -> line.contains("DeadLetterPublisher")))
                .hasSize(12)
                .noneMatch(line -> line.contains("again"));
    }

    @Test
    void aDeadLetterThatCannotBePublishedTakesNoOtherAlong() throws Exception {
        TestKafka.createTopics(1, this.topic + "-dlt");
        limitDeadLetters("50000");
        String garbage = "garbage".repeat(20_000);
        try (TestApplication app = startWith(List.of(), Intercepted.class, "1:a", "2:" + garbage, "3:c")) {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> app.bean(Intercepted.class).calls() > 30);
            // Nobody can tell whose failure it is, so the first is given up, and once.
            assertThat(deadLetters()).containsExactly("a");
            limitDeadLetters("1000000");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(deadLetters()).containsExactly("a", garbage);
            assertThat(app.bean(Effects.class).all()).containsExactly("c");
        }
    }

    private void limitDeadLetters(String bytes) throws Exception {
        try (Admin admin = TestKafka.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, this.topic + "-dlt"),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("max.message.bytes", bytes), AlterConfigOp.OpType.SET))))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    @Import(Effects.class)
    static class Converted {

        private final Effects effects;

        Converted(Effects effects) {
            this.effects = effects;
        }

        public static class Named {
            public String name;
        }

        @Bean
        static JacksonJsonMessageConverter converter() {
            return new JacksonJsonMessageConverter();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<Named> payloads) {
            payloads.forEach(named -> this.effects.happen((named != null) ? named.name : "nothing"));
        }
    }

    @Import(Effects.class)
    static class Refused {

        private final Effects effects;

        Refused(Effects effects) {
            this.effects = effects;
        }

        /** Throws what is not declared, as code in Kotlin does. */
        @SuppressWarnings("unchecked") // Nobody looks at run time.
        private static <T extends Throwable> RuntimeException undeclared(Throwable failure) throws T {
            throw (T) failure;
        }

        private static boolean isRefused(Object payload) {
            return !String.valueOf(payload).startsWith("{");
        }

        @Bean
        static KafkaListenerConfigurer validation() {
            return registrar -> registrar.setValidator(new Validator() {

                @Override
                public boolean supports(Class<?> type) {
                    return true;
                }

                @Override
                public void validate(Object target, Errors errors) {
                    if (((List<?>) target).stream().anyMatch(Refused::isRefused)) {
                        errors.reject("refused", target.toString());
                    }
                }
            });
        }

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setBatchListener(true);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> converting(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setBatchMessageConverter(new BatchMessagingMessageConverter(new RefusingConverter()));
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> convertingBatches(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setBatchMessageConverter(new RefusingBatchConverter());
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> filtering(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setRecordFilterStrategy(record -> {
                if (isRefused(record.value())) {
                    throw undeclared(new IOException("by the filter"));
                }
                return false;
            });
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> filteringWithManualAcks(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = filtering(configurer, consumers);
            factory.getContainerProperties().setAckMode(AckMode.MANUAL);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> failing(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setRecordFilterStrategy(record -> {
                if (isRefused(record.value())) {
                    throw new NoClassDefFoundError("by the filter");
                }
                return false;
            });
            return factory;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}message", containerFactory = "converting")
        @IdempotentListener("message")
        void onMessages(List<Message<String>> messages) {
            messages.forEach(message -> this.effects.happen("message " + message.getPayload()));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batch", containerFactory = "convertingBatches")
        @IdempotentListener("batch")
        void onBatch(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("batch " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}validated")
        @IdempotentListener("validated")
        void onValidated(@Payload @Validated List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("validated " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}filtered", containerFactory = "filtering")
        @IdempotentListener("filtered")
        void onFiltered(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("filtered " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}failing", containerFactory = "failing")
        @IdempotentListener("failing")
        void onFailing(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("failing " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}manual", containerFactory = "filteringWithManualAcks")
        @IdempotentListener("manual")
        void onManual(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(payload -> this.effects.happen("manual " + payload));
            acknowledgment.acknowledge();
        }
    }

    static class RefusingConverter extends MessagingMessageConverter {

        @Override
        protected Object extractAndConvertValue(ConsumerRecord<?, ?> record, Type type) {
            if (Refused.isRefused(record.value())) {
                throw new IllegalArgumentException("by the converter");
            }
            return super.extractAndConvertValue(record, type);
        }
    }

    static class RefusingBatchConverter extends BatchMessagingMessageConverter {

        @Override
        public Message<?> toMessage(
                List<ConsumerRecord<?, ?>> records, Acknowledgment acknowledgment, Consumer<?, ?> consumer, Type type) {
            if (records.stream().map(ConsumerRecord::value).anyMatch(Refused::isRefused)) {
                throw new IllegalArgumentException("by the converter");
            }
            return super.toMessage(records, acknowledgment, consumer, type);
        }
    }

    @Import(Effects.class)
    static class Intercepted implements BatchInterceptor<Object, Object> {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        Intercepted(Effects effects) {
            this.effects = effects;
        }

        int calls() {
            return this.calls.get();
        }

        @Override
        public ConsumerRecords<Object, Object> intercept(
                ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
            this.calls.incrementAndGet();
            records.forEach(record -> {
                if (String.valueOf(record.value()).startsWith("garbage")) {
                    throw new IllegalStateException("by the interceptor");
                }
            });
            return records;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }
}
