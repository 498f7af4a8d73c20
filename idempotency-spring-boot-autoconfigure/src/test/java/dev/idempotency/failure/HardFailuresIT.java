package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaConsumerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.backoff.FixedBackOff;

/** Failures that make error handling fail, or keep it from coming to an end. */
class HardFailuresIT extends SharedApplicationTest {

    private static final List<String> KINDS = List.of("records", "batches", "polls", "own");

    private static final int MAX_ATTEMPTS = 4;

    @BeforeAll
    void start() {
        createTopics(2, "records", "batches", "polls", "own", "manual", "rude", "rude-batch");
        start(
                Listeners.class,
                "idempotency.errors.initial-interval=20ms",
                "idempotency.errors.max-interval=50ms",
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                "idempotency.errors.outage.max-interval=20ms");
    }

    private void send(String kind, int partition, String payload) {
        ProducerRecord<Object, Object> record = new ProducerRecord<>(topic(kind), partition, null, payload);
        record.headers().add("message-id", payload.getBytes(StandardCharsets.UTF_8));
        this.app.send(record);
    }

    private List<String> deadLetters(String kind) {
        return kind.equals("own") || kind.startsWith("rude")
                ? List.copyOf(this.app.bean(Recovered.class).payloads)
                : TopicContents.values(topic(kind) + "-dlt");
    }

    private int effects(String payload) {
        return this.app.bean(Effects.class).counts().getOrDefault(payload, 0);
    }

    private int attempts(String payload) {
        return this.app.bean(Script.class).attempts(payload);
    }

    @ParameterizedTest
    @CsvSource({"batches,0", "batches,1", "polls,0", "polls,1", "own,0", "own,1", "records,0", "records,1"})
    void aPoisonMessageBesideABusyPartitionIsGivenUpAfterItsAttempts(String kind, int partition) {
        String poison = "poison " + kind + partition;
        int busy = 1 - partition;
        send(kind, busy, "quiet 0 " + poison);
        send(kind, partition, poison);
        send(kind, partition, "behind " + poison);
        AtomicInteger sent = new AtomicInteger();
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    send(kind, busy, "quiet " + sent.incrementAndGet() + " " + poison);
                    return effects("behind " + poison) == 1;
                });
        awaitCaughtUp(kind);
        assertThat(deadLetters(kind)).containsOnlyOnce(poison).doesNotContain("behind " + poison);
        assertThat(effects(poison)).isZero();
        assertThat(this.app.bean(Effects.class).all())
                .filteredOn(effect -> effect.startsWith("quiet") && effect.endsWith(poison))
                .hasSize(sent.get() + 1)
                .doesNotHaveDuplicates();
        // A batch fails once as a whole before its message is found.
        assertThat(attempts(poison)).isBetween(MAX_ATTEMPTS, 2 * MAX_ATTEMPTS);
    }

    static Stream<String> hardFailures() {
        return KINDS.stream().flatMap(kind -> Stream.of(
                        "classifierThrows",
                        "classifierThrowsChecked",
                        "classifierOverflows",
                        "classifierAnswersNothing",
                        "circular",
                        "circularDeeper",
                        "endless",
                        "stackOverflow",
                        "noClass",
                        "assertion",
                        "interrupted")
                .map(failure -> failure + " " + kind));
    }

    @ParameterizedTest
    @MethodSource("hardFailures")
    void whateverIsThrownTheMessageAloneIsGivenUp(String payload) {
        String kind = payload.substring(payload.indexOf(' ') + 1);
        assertThatItAloneIsGivenUp(kind, payload);
        assertThat(attempts(payload)).isGreaterThanOrEqualTo(MAX_ATTEMPTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "manual", "batches", "polls", "own"})
    void aProcessedMessageWhoseOffsetCannotBeCommittedIsNotDeadLettered(String kind) {
        String payload = "uncommitted " + kind;
        this.app.bean(FailingOffsets.class).failing.put(topic(kind), new AtomicInteger(2 * MAX_ATTEMPTS));
        send(kind, 0, payload);
        await().atMost(Duration.ofSeconds(30))
                .until(() -> this.app
                                .bean(FailingOffsets.class)
                                .failing
                                .get(topic(kind))
                                .get()
                        <= 0);
        send(kind, 0, "behind " + payload);
        awaitCaughtUp(kind);
        assertThat(effects(payload)).isOne();
        assertThat(effects("behind " + payload)).isOne();
        assertThat(attempts(payload)).isOne();
        assertThat(deadLetters(kind)).doesNotContain(payload, "behind " + payload);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rude", "rude-batch"})
    void anErrorHandlerOfTheApplicationThatThrowsBeforeItSeeksLosesNothing(String kind) {
        assertThatItAloneIsGivenUp(kind, "poison " + kind);
    }

    @Test
    void aFilterThatThrowsWhatItDoesNotDeclareLosesNothing() {
        assertThatItAloneIsGivenUp("rude", "unfiltered");
    }

    private void assertThatItAloneIsGivenUp(String kind, String payload) {
        send(kind, 0, "before " + payload);
        send(kind, 0, payload);
        send(kind, 0, "after " + payload);
        send(kind, 1, "beside " + payload);
        awaitCaughtUp(kind);
        assertThat(Stream.of("before ", "after ", "beside ").map(word -> effects(word + payload)))
                .containsOnly(1);
        assertThat(effects(payload)).isZero();
        assertThat(deadLetters(kind)).containsOnlyOnce(payload);
    }

    /** Throws what is not declared, as code in Kotlin does. */
    @SuppressWarnings("unchecked") // Nobody looks at run time.
    private static <T extends Throwable> RuntimeException undeclared(Throwable failure) throws T {
        throw (T) failure;
    }

    /** An error handler that fails itself, now and then. */
    static class Rude extends DefaultErrorHandler {

        private final AtomicInteger calls = new AtomicInteger();

        Rude(Recovered recovered) {
            super(
                    (record, exception) -> recovered.payloads.add(String.valueOf(record.value())),
                    new FixedBackOff(10, MAX_ATTEMPTS - 1));
        }

        private void fail() {
            switch (this.calls.getAndIncrement() % 5) {
                case 0 -> throw undeclared(new IOException("by the error handler"));
                case 1 -> throw new IllegalStateException("by the error handler");
                case 2 -> throw new StackOverflowError("by the error handler");
                default -> {}
            }
        }

        @Override
        public void handleRemaining(
                Exception thrown,
                List<ConsumerRecord<?, ?>> records,
                Consumer<?, ?> consumer,
                MessageListenerContainer container) {
            fail();
            super.handleRemaining(thrown, records, consumer, container);
        }

        @Override
        public void handleBatch(
                Exception thrown,
                ConsumerRecords<?, ?> data,
                Consumer<?, ?> consumer,
                MessageListenerContainer container,
                Runnable invokeListener) {
            fail();
            super.handleBatch(thrown, data, consumer, container, invokeListener);
        }
    }

    /** What the application's own error handler was given in the end. */
    static class Recovered {

        final List<String> payloads = new CopyOnWriteArrayList<>();
    }

    /** A payload's first word says how it fails. */
    static class Script {

        private final Effects effects;
        private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();

        Script(Effects effects) {
            this.effects = effects;
        }

        int attempts(String payload) {
            return this.attempts
                    .computeIfAbsent(payload, key -> new AtomicInteger())
                    .get();
        }

        void on(String payload) {
            this.attempts.computeIfAbsent(payload, key -> new AtomicInteger()).incrementAndGet();
            this.effects.happen(payload);
            String kind = payload.split(" ")[0];
            switch (kind) {
                case "poison",
                        "classifierThrows",
                        "classifierThrowsChecked",
                        "classifierOverflows",
                        "classifierAnswersNothing" -> throw new IllegalStateException(kind);
                case "circular" -> throw circle(0);
                case "circularDeeper" -> throw circle(3);
                case "endless" -> throw chain(200);
                case "stackOverflow" -> throw new StackOverflowError("for the test");
                case "noClass" -> throw new NoClassDefFoundError("for the test");
                case "interrupted" -> {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("for the test");
                }
                case "assertion" -> throw new AssertionError("for the test");
                default -> {}
            }
        }

        private static IllegalStateException circle(int before) {
            IllegalStateException first = new IllegalStateException("first");
            IllegalArgumentException second = new IllegalArgumentException("second", first);
            first.initCause(second);
            IllegalStateException failure = first;
            for (int i = 0; i < before; i++) {
                failure = new IllegalStateException("around " + i, failure);
            }
            return failure;
        }

        private static IllegalStateException chain(int length) {
            IllegalStateException failure = new IllegalStateException("innermost");
            for (int i = 0; i < length; i++) {
                failure = new IllegalStateException("around " + i, failure);
            }
            return failure;
        }
    }

    /** Offset commits that fail, as they do when the broker does not answer. */
    static class FailingOffsets implements DefaultKafkaConsumerFactoryCustomizer {

        final Map<String, AtomicInteger> failing = new ConcurrentHashMap<>();

        @Override
        @SuppressWarnings("unchecked")
        public void customize(DefaultKafkaConsumerFactory<?, ?> factory) {
            ((DefaultKafkaConsumerFactory<Object, Object>) factory)
                    .addPostProcessor(consumer -> (Consumer<Object, Object>) Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {Consumer.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().startsWith("commit")
                                        && consumer.assignment().stream()
                                                .anyMatch(partition -> isFailing(partition.topic()))) {
                                    throw new TimeoutException("for the test");
                                }
                                try {
                                    return method.invoke(consumer, arguments);
                                } catch (InvocationTargetException ex) {
                                    throw ex.getCause();
                                }
                            }));
        }

        private boolean isFailing(String topic) {
            AtomicInteger left = this.failing.get(topic);
            return left != null && left.getAndDecrement() > 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Script.class, Recovered.class, FailingOffsets.class})
    static class Listeners {

        @Bean
        FailureClassifier applicationsClassifier() {
            return failure -> {
                String text = String.valueOf(failure) + rootOf(failure);
                if (text.contains("classifierThrowsChecked")) {
                    throw undeclared(new IOException("by the classifier"));
                }
                if (text.contains("classifierThrows")) {
                    throw new IllegalArgumentException("by the classifier");
                }
                if (text.contains("classifierOverflows")) {
                    throw new StackOverflowError("by the classifier");
                }
                return text.contains("classifierAnswersNothing") ? null : FailureKind.MESSAGE;
            };
        }

        private static String rootOf(Throwable failure) {
            StringBuilder text = new StringBuilder();
            Throwable cause = failure;
            for (int i = 0; cause != null && i < 4; i++) {
                text.append(cause);
                cause = cause.getCause();
            }
            return text.toString();
        }

        @Bean
        IdempotencyObserver throwingObserver() {
            return new IdempotencyObserver() {

                @Override
                public ConsumerObserver observe(ConsumerDescription consumer) {
                    return new ConsumerObserver() {

                        @Override
                        public void failed(int messages) {
                            throw new IllegalStateException("by the observer");
                        }

                        @Override
                        public void retried(int messages) {
                            throw new StackOverflowError("by the observer");
                        }

                        @Override
                        public void deadLettered(RecordCoordinates coordinates) {
                            throw new NoClassDefFoundError("by the observer");
                        }

                        @Override
                        public void processed(MessageId id, RecordCoordinates coordinates) {
                            throw undeclared(new IOException("by the observer"));
                        }
                    };
                }
            };
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> ownFactory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                Recovered recovered) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setBatchListener(true);
            factory.setCommonErrorHandler(new DefaultErrorHandler(
                    (record, exception) -> recovered.payloads.add(String.valueOf(record.value())),
                    new FixedBackOff(10, MAX_ATTEMPTS - 1)));
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> rudeFactory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                Recovered recovered) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setCommonErrorHandler(new Rude(recovered));
            factory.setRecordFilterStrategy(record -> {
                if (String.valueOf(record.value()).startsWith("unfiltered")) {
                    throw undeclared(new IOException("by the filter"));
                }
                return false;
            });
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> recordAcks(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            return acknowledging(AckMode.RECORD, configurer, consumers);
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> manualAcks(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            return acknowledging(AckMode.MANUAL_IMMEDIATE, configurer, consumers);
        }

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> acknowledging(
                AckMode mode,
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.getContainerProperties().setAckMode(mode);
            return factory;
        }

        @Bean
        OfKinds ofKinds(Script script) {
            return new OfKinds(script);
        }
    }

    static class OfKinds {

        private final Script script;

        OfKinds(Script script) {
            this.script = script;
        }

        @KafkaListener(topics = "records${suffix}", groupId = "records${suffix}", containerFactory = "recordAcks")
        @IdempotentListener("records")
        void onRecord(String payload) {
            this.script.on(payload);
        }

        @KafkaListener(topics = "manual${suffix}", groupId = "manual${suffix}", containerFactory = "manualAcks")
        @IdempotentListener("manual")
        void onManual(String payload, Acknowledgment acknowledgment) {
            this.script.on(payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener("batches")
        void onBatch(List<String> payloads) {
            payloads.forEach(this.script::on);
        }

        @KafkaListener(topics = "polls${suffix}", groupId = "polls${suffix}")
        @IdempotentListener(value = "polls", transactionPerPoll = "true")
        void onPoll(String payload) {
            this.script.on(payload);
        }

        @KafkaListener(topics = "rude${suffix}", groupId = "rude${suffix}", containerFactory = "rudeFactory")
        @IdempotentListener("rude")
        void onRude(String payload) {
            this.script.on(payload);
        }

        @KafkaListener(
                topics = "rude-batch${suffix}",
                groupId = "rude-batch${suffix}",
                containerFactory = "rudeFactory",
                batch = "true")
        @IdempotentListener("rude-batch")
        void onRudeBatch(List<ConsumerRecord<String, String>> records) {
            name(records);
        }

        @KafkaListener(topics = "own${suffix}", groupId = "own${suffix}", containerFactory = "ownFactory")
        @IdempotentListener("own")
        void onOwn(List<ConsumerRecord<String, String>> records) {
            name(records);
        }

        private void name(List<ConsumerRecord<String, String>> records) {
            for (ConsumerRecord<String, String> record : records) {
                try {
                    this.script.on(record.value());
                } catch (RuntimeException | Error ex) {
                    throw new BatchListenerFailedException("failed", ex, record);
                }
            }
        }
    }
}
