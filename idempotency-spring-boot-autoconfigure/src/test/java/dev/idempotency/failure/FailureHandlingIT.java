package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaConsumerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.util.backoff.FixedBackOff;

/** What becomes of failures, also of those that make error handling itself fail. */
class FailureHandlingIT extends SharedApplicationTest {

    private static final int MAX_ATTEMPTS = 3;
    private static final List<String> KINDS =
            List.of("records", "batches", "polls", "plain", "manual", "own", "rude", "rudeBatch");

    @BeforeAll
    void start() {
        createTopics(1, KINDS.toArray(String[]::new));
        start(
                Application.class,
                "spring.datasource.hikari.connection-timeout=500",
                "idempotency.errors.initial-interval=20ms",
                "idempotency.errors.max-interval=50ms",
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                "idempotency.errors.outage.max-interval=200ms");
        for (String kind : KINDS) {
            await("the consumer of " + kind)
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> consumer(kind) != container(kind));
        }
    }

    private ConcurrentMessageListenerContainer<?, ?> container(String id) {
        return (ConcurrentMessageListenerContainer<?, ?>)
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(id);
    }

    private TopicPartition partition(String kind) {
        return new TopicPartition(topic(kind), 0);
    }

    private MessageListenerContainer consumer(String kind) {
        return container(kind).getContainerFor(topic(kind), 0);
    }

    /** Has the messages polled together, so that batch listeners get them in one batch. */
    private void sendTogether(String kind, String... payloads) {
        container(kind).pause();
        try {
            await().until(() -> consumer(kind).isContainerPaused());
            send(kind, payloads);
        } finally {
            container(kind).resume();
        }
    }

    private int effects(String payload) {
        return this.app.bean(Effects.class).counts().getOrDefault(payload, 0);
    }

    private int attempts(String payload) {
        return this.app.bean(Listeners.class).attempts(payload);
    }

    private List<ConsumerRecord<String, String>> deadLetters(String kind, String value) {
        return TopicContents.of(topic(kind) + "-dlt").stream()
                .filter(record -> value.equals(record.value()))
                .toList();
    }

    private long givenUp(String kind, String payload) {
        return deadLetters(kind, payload).size()
                + this.app.bean(Application.class).recovered.stream()
                        .filter(payload::equals)
                        .count();
    }

    private double meter(String name, String kind) {
        return this.app.bean(MeterRegistry.class).get(name).tag("consumer", kind).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }

    @ParameterizedTest
    @CsvSource({"records, alone", "records, among", "batches, alone", "batches, among", "polls, alone", "polls, among"})
    void aDeadLetterNamesItsIdTopicGroupAndCauseAndIsCounted(String kind, String company) {
        String poison = "poison %s of %s".formatted(company, kind);
        double deadLetters = meter(IdempotencyMeters.DEAD_LETTERS, kind);
        double retries = meter(IdempotencyMeters.RETRIES, kind);
        if (company.equals("alone")) {
            send(kind, poison);
        } else {
            sendTogether(kind, "before " + poison, poison, "after " + poison);
        }
        awaitCaughtUp(kind);
        assertThat(effects(poison)).isZero();
        assertThat(deadLetters(kind, poison)).singleElement().satisfies(letter -> {
            assertThat(header(letter, "message-id")).isEqualTo(poison);
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic(kind));
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP)).isEqualTo(topic(kind));
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN))
                    .isEqualTo(IllegalStateException.class.getName());
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("IllegalStateException");
        });
        assertThat(meter(IdempotencyMeters.DEAD_LETTERS, kind)).isEqualTo(deadLetters + 1);
        assertThat(meter(IdempotencyMeters.RETRIES, kind)).isGreaterThanOrEqualTo(retries + MAX_ATTEMPTS - 1);
    }

    @Test
    void aDerivedKeyIsTheSameInEveryAttempt() {
        send("records", "keyed poison");
        awaitCaughtUp("records");
        List<String> keys = this.app.bean(Listeners.class).derivedKeys();
        assertThat(keys).hasSize(MAX_ATTEMPTS).containsOnly(keys.get(0));
    }

    @Test
    void aTombstoneThatFailsIsDeadLetteredAsATombstone() {
        this.app.send(topic("records"), "tombstone", null);
        awaitCaughtUp("records");
        assertThat(TopicContents.of(topic("records") + "-dlt"))
                .filteredOn(letter -> "tombstone".equals(header(letter, "message-id")))
                .singleElement()
                .satisfies(letter -> assertThat(letter.value()).isNull());
    }

    @Test
    void aFailureThatIsTooLargeForADeadLetterIsAbridged() {
        send("records", "verbose", "behind verbose");
        awaitCaughtUp("records");
        assertThat(effects("behind verbose")).isOne();
        assertThat(deadLetters("records", "verbose")).singleElement().satisfies(letter -> {
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic("records"));
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("Exception");
        });
    }

    @Test
    void anOutageIsShownAndLoggedOnceWhenItBeginsAndOnceWhenItEnds() {
        try (FailureLog log = new FailureLog(Outage.class.getName())) {
            this.database.goAway();
            send("records", "patient 1", "patient 2");
            await().until(() -> meter(IdempotencyMeters.OUTAGE, "records") == 1);
            double retries = meter(IdempotencyMeters.RETRIES, "records");
            await().until(() -> meter(IdempotencyMeters.RETRIES, "records") > retries + 1);
            await().until(() -> consumer("records").isPartitionPaused(partition("records")));
            assertThat(this.app.bean(OutageRegistry.class).current())
                    .extracting(ConsumerOutage::consumer)
                    .containsExactly("records");
            Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("waitingForDatabase")).asString().contains("consumer=records");
            this.database.comeBack();
            awaitCaughtUp("records");
            await().until(() -> meter(IdempotencyMeters.OUTAGE, "records") == 0);
            assertThat(log.lines()).hasSize(2);
            assertThat(log.lines().get(0)).contains("'records' waits for the database", topic("records"));
            assertThat(log.lines().get(1)).contains("no longer waits");
        }
        assertThat(effects("patient 1") + effects("patient 2")).isEqualTo(2);
        await().until(() -> !consumer("records").isPartitionPauseRequested(partition("records")));
    }

    @Test
    void aContainerThatIsNotProtectedIsLeftAlone() {
        assertThat(container("plain").getCommonErrorHandler()).isNull();
    }

    @Test
    void aContainerThatTheApplicationHasPausedStaysPaused() {
        container("records").pause();
        try (ConsumerPauses pauses = new ConsumerPauses()) {
            await().until(() -> consumer("records").isContainerPaused());
            pauses.pause(container("records"), partition("records"), Duration.ofMillis(1));
            await().until(() -> !consumer("records").isPartitionPauseRequested(partition("records")));
            assertThat(consumer("records").isPauseRequested()).isTrue();
        } finally {
            container("records").resume();
        }
    }

    @Test
    void aPauseWhileTheApplicationShutsDownIsNoError() {
        ConsumerPauses pauses = new ConsumerPauses();
        pauses.close();
        pauses.pause(container("plain"), partition("plain"), Duration.ofMillis(1));
    }

    @ParameterizedTest
    @CsvSource({
        "records, classifierThrows",
        "records, classifierThrowsChecked",
        "records, classifierOverflows",
        "records, classifierAnswersNothing",
        "batches, stackOverflow",
        "rude, poison",
        "rude, unfiltered",
        "rudeBatch, poison"
    })
    void whateverIsThrownTheMessageAloneIsGivenUp(String kind, String failure) {
        String payload = failure + " hard " + kind;
        send(kind, "before " + payload, payload, "after " + payload);
        awaitCaughtUp(kind);
        assertThat(effects("before " + payload)).isOne();
        assertThat(effects("after " + payload)).isOne();
        assertThat(effects(payload)).isZero();
        assertThat(givenUp(kind, payload)).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "manual", "batches", "polls", "own"})
    void aProcessedMessageWhoseOffsetCannotBeCommittedIsNotDeadLettered(String kind) {
        String payload = "uncommitted " + kind;
        AtomicInteger failing = new AtomicInteger(2 * MAX_ATTEMPTS);
        this.app.bean(FailingOffsets.class).failing.put(topic(kind), failing);
        send(kind, payload);
        await().until(() -> failing.get() <= 0);
        awaitCaughtUp(kind);
        assertThat(effects(payload)).isOne();
        assertThat(attempts(payload)).isOne();
        assertThat(givenUp(kind, payload)).isZero();
    }

    /** Throws what is not declared, as code in Kotlin does. */
    @SuppressWarnings("unchecked") // Nobody looks at run time.
    private static <T extends Throwable> RuntimeException undeclared(Throwable failure) throws T {
        throw (T) failure;
    }

    /** An error handler that fails itself, now and then. */
    static class Rude extends DefaultErrorHandler {

        private final AtomicInteger calls = new AtomicInteger();

        Rude(List<String> recovered) {
            super((record, exception) -> recovered.add(String.valueOf(record.value())), new FixedBackOff(10, 2));
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
                                if (method.getName().startsWith("commit") && isFailing(consumer.assignment())) {
                                    throw new TimeoutException("for the test");
                                }
                                try {
                                    return method.invoke(consumer, arguments);
                                } catch (InvocationTargetException ex) {
                                    throw ex.getCause();
                                }
                            }));
        }

        private boolean isFailing(Set<TopicPartition> assignment) {
            return assignment.stream()
                    .map(partition -> this.failing.get(partition.topic()))
                    .anyMatch(left -> left != null && left.getAndDecrement() > 0);
        }
    }

    static class ThrowingObserver implements ConsumerObserver {

        @Override
        public void failed(RecordCoordinates coordinates, Throwable failure) {
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
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, FailingOffsets.class, Listeners.class})
    static class Application {

        /** What the application's own error handlers were given in the end. */
        final List<String> recovered = new CopyOnWriteArrayList<>();

        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> commitsEachRecord() {
            return container -> {
                if (container.getListenerId().equals("records")) {
                    container.getContainerProperties().setAckMode(AckMode.RECORD);
                }
            };
        }

        @Bean
        IdempotencyObserver throwingObserver() {
            return consumer -> new ThrowingObserver();
        }

        @Bean
        FailureClassifier applicationsClassifier() {
            DatabaseFailureClassifier database = new DatabaseFailureClassifier();
            return failure -> {
                String text = String.valueOf(Causes.of(failure).deepest().getMessage());
                return switch (text.split(" ")[0]) {
                    case "classifierThrowsChecked" -> throw undeclared(new IOException("by the classifier"));
                    case "classifierThrows" -> throw new IllegalArgumentException("by the classifier");
                    case "classifierOverflows" -> throw new StackOverflowError("by the classifier");
                    case "classifierAnswersNothing" -> null;
                    default -> database.classify(failure);
                };
            };
        }

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> own(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setCommonErrorHandler(new DefaultErrorHandler(
                    (record, exception) -> this.recovered.add(String.valueOf(record.value())),
                    new FixedBackOff(10, 2)));
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> rude(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setCommonErrorHandler(new Rude(this.recovered));
            factory.setRecordFilterStrategy(record -> {
                if (String.valueOf(record.value()).startsWith("unfiltered")) {
                    throw undeclared(new IOException("by the filter"));
                }
                return false;
            });
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> manual(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.getContainerProperties().setAckMode(AckMode.MANUAL_IMMEDIATE);
            return factory;
        }
    }

    static class Listeners extends ListenersOfKinds {

        private final Effects effects;
        private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
        private final List<String> derivedKeys = new CopyOnWriteArrayList<>();

        Listeners(Effects effects) {
            this.effects = effects;
        }

        int attempts(String payload) {
            return this.attempts.get(payload).get();
        }

        List<String> derivedKeys() {
            return this.derivedKeys;
        }

        /** A payload's first word says how it fails. */
        @Override
        void on(String payload) {
            this.attempts.computeIfAbsent(payload, key -> new AtomicInteger()).incrementAndGet();
            this.effects.happen(payload);
            switch (payload.split(" ")[0]) {
                case "before", "after", "behind", "patient", "uncommitted" -> {}
                case "keyed" -> {
                    this.derivedKeys.add(IdempotencyContext.current().deriveKey("email"));
                    throw new IllegalStateException(payload);
                }
                case "stackOverflow" -> throw new StackOverflowError(payload);
                case "verbose" -> throw new IllegalStateException(payload + ".".repeat(2_000_000));
                default -> throw new IllegalStateException(payload);
            }
        }

        @KafkaListener(id = "plain", topics = "plain${suffix}", groupId = "plain${suffix}")
        void plain(String payload) {}

        @KafkaListener(
                id = "manual",
                topics = "manual${suffix}",
                groupId = "manual${suffix}",
                containerFactory = "manual")
        @IdempotentListener("manual")
        void manual(String payload, Acknowledgment acknowledgment) {
            on(payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(
                id = "own",
                topics = "own${suffix}",
                groupId = "own${suffix}",
                containerFactory = "own",
                batch = "true")
        @IdempotentListener("own")
        void own(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @KafkaListener(id = "rude", topics = "rude${suffix}", groupId = "rude${suffix}", containerFactory = "rude")
        @IdempotentListener("rude")
        void rude(String payload) {
            on(payload);
        }

        @KafkaListener(
                id = "rudeBatch",
                topics = "rudeBatch${suffix}",
                groupId = "rudeBatch${suffix}",
                containerFactory = "rude",
                batch = "true")
        @IdempotentListener("rudeBatch")
        void rudeBatch(List<String> payloads) {
            payloads.forEach(this::on);
        }
    }
}
