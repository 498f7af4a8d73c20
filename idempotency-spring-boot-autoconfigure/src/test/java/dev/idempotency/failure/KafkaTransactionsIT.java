package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.util.backoff.FixedBackOff;

/** Containers that take part in Kafka transactions: Spring Kafka's own defaults would lose records there. */
class KafkaTransactionsIT extends SharedApplicationTest {

    private static final String PREFIX = TestKafka.uniqueName("transaction");

    @BeforeAll
    void start() {
        createTopics(1, "records", "unreadable", "deprecated", "configured", "fenced", "fenced-batch", "batches");
        start(
                Listeners.class,
                "idempotency.errors.max-attempts=3",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.max-interval=20ms");
    }

    private MessageListenerContainer container(String kind) {
        return this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "deprecated"})
    void aMessageThatFailsForGoodIsDeadLettered(String kind) {
        send(kind, kind + " a", kind + " poison", kind + " b", kind + " last poison");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " a", kind + " b");
        List<ConsumerRecord<String, String>> letters = TopicContents.of(topic(kind) + "-dlt");
        assertThat(letters).extracting(ConsumerRecord::value).containsExactly(kind + " poison", kind + " last poison");
        assertThat(letters.get(0).headers().lastHeader(KafkaHeaders.DLT_ORIGINAL_OFFSET))
                .isNotNull();
        assertThat(Listeners.CALLS.get(kind + " poison")).isEqualTo(3);
        assertThat(this.app.bean(Retries.class).of(kind))
                .as("two of each message that failed")
                .isEqualTo(4);
    }

    @Test
    void aMessageThatCannotBeReadIsDeadLetteredAsItCame() {
        send("unreadable", "garbled", "unreadable after it");
        awaitCaughtUp("unreadable");
        assertThat(effectsOf("unreadable")).containsExactly("unreadable after it");
        assertThat(TopicContents.values(topic("unreadable") + "-dlt")).containsExactly("garbled");
    }

    /** Spring Kafka has it come again at once, and so again and again. */
    @Test
    void aBatchThatFailsComesAgainAfterPausesUntilItSucceeds() {
        Listeners.FAILING.set(true);
        send("batches", "batches 1", "batches 2");
        TopicPartition partition = new TopicPartition(topic("batches"), 0);
        await().until(() -> container("batches").isPartitionPaused(partition));
        Listeners.FAILING.set(false);
        awaitCaughtUp("batches");
        assertThat(effectsOf("batches")).containsExactly("batches 1", "batches 2");
        assertThat(this.app.bean(Retries.class).of("batches")).isPositive();
    }

    @Test
    void aRollbackProcessorOfTheApplicationsOwnIsLeftAlone() {
        send("configured", "configured a", "configured poison", "configured b");
        awaitCaughtUp("configured");
        assertThat(effectsOf("configured")).containsExactly("configured a", "configured b", "configured dropped");
        assertThat(Listeners.CALLS.get("configured poison")).isEqualTo(2);
    }

    /** Spring Kafka goes on with the next poll, and never comes back to what was left of this one. */
    @ParameterizedTest
    @ValueSource(strings = {"fenced", "fenced-batch"})
    void whatIsLeftOfAPollWhoseProducerIsFencedIsNotLost(String kind) {
        container(kind).pause();
        await().until(() -> container(kind).isContainerPaused());
        send(kind, kind + " 1", kind + " 2", kind + " 3");
        Listeners.FENCE.set(true);
        container(kind).resume();
        await().until(() -> !container(kind).isChildRunning());
        assertThat(Listeners.FENCE).isFalse();
        container(kind).stop();
        container(kind).resume();
        container(kind).start();
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " 1", kind + " 2", kind + " 3");
    }

    @Import({Effects.class, Retries.class})
    static class Listeners {

        static final Map<String, Integer> CALLS = new ConcurrentHashMap<>();
        static final AtomicBoolean FENCE = new AtomicBoolean();
        static final AtomicBoolean FAILING = new AtomicBoolean();

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        private void on(String payload) {
            this.effects.happen(payload);
            CALLS.merge(payload, 1, Integer::sum);
            if (payload.endsWith("poison")) {
                throw new IllegalStateException("on purpose");
            }
            if (FENCE.compareAndSet(true, false)) {
                fenceProducers();
            }
        }

        private static void fenceProducers() {
            try {
                List<String> mine = TestKafka.sharedAdmin().listTransactions().all().get(30, TimeUnit.SECONDS).stream()
                        .map(transaction -> transaction.transactionalId())
                        .filter(id -> id.startsWith(PREFIX + "-fenced"))
                        .toList();
                TestKafka.sharedAdmin().fenceProducers(mine).all().get(30, TimeUnit.SECONDS);
            } catch (Exception ex) {
                throw new IllegalStateException(ex);
            }
        }

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            return factory;
        }

        private static KafkaTransactionManager<Object, Object> transactions(
                ProducerFactory<?, ?> producers, String kind) {
            Map<String, Object> configuration = new HashMap<>(producers.getConfigurationProperties());
            configuration.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, PREFIX + "-" + kind);
            return new KafkaTransactionManager<>(new DefaultKafkaProducerFactory<>(configuration));
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> transactional(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                ProducerFactory<?, ?> producers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.getContainerProperties().setKafkaAwareTransactionManager(transactions(producers, "ordinary"));
            return factory;
        }

        @Bean
        @SuppressWarnings("removal") // Still in force where it is set.
        static ConcurrentKafkaListenerContainerFactory<Object, Object> deprecatedTransactional(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                ProducerFactory<?, ?> producers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.getContainerProperties().setTransactionManager(transactions(producers, "deprecated"));
            factory.getContainerProperties().setDeliveryAttemptHeader(true);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> fenced(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                ProducerFactory<?, ?> producers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.getContainerProperties().setKafkaAwareTransactionManager(transactions(producers, "fenced"));
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> configured(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                ProducerFactory<?, ?> producers,
                Effects effects) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            KafkaTransactionManager<Object, Object> manager = transactions(producers, "configured");
            factory.getContainerProperties().setKafkaAwareTransactionManager(manager);
            factory.setAfterRollbackProcessor(new DefaultAfterRollbackProcessor<>(
                    (record, exception) -> effects.happen("configured dropped"),
                    new FixedBackOff(0, 1),
                    new KafkaTemplate<>(manager.getProducerFactory()),
                    true));
            return factory;
        }

        @KafkaListener(topics = "records${suffix}", groupId = "records${suffix}", containerFactory = "transactional")
        @IdempotentListener("records")
        void records(String payload) {
            on(payload);
        }

        @KafkaListener(
                topics = "unreadable${suffix}",
                groupId = "unreadable${suffix}",
                containerFactory = "transactional",
                properties = "value.deserializer=dev.idempotency.failure.PickyDeserializer")
        @IdempotentListener("unreadable")
        void unreadable(String payload) {
            on(payload);
        }

        @KafkaListener(
                topics = "deprecated${suffix}",
                groupId = "deprecated${suffix}",
                containerFactory = "deprecatedTransactional")
        @IdempotentListener("deprecated")
        void deprecated(String payload, @Header(KafkaHeaders.DELIVERY_ATTEMPT) int attempt) {
            if (attempt != CALLS.getOrDefault(payload, 0) + 1) {
                throw new IllegalStateException(payload + " has come with attempt " + attempt);
            }
            on(payload);
        }

        @KafkaListener(
                id = "batches",
                topics = "batches${suffix}",
                groupId = "batches${suffix}",
                batch = "true",
                containerFactory = "transactional")
        @IdempotentListener("batches")
        void batches(List<String> payloads) {
            payloads.forEach(this.effects::happen);
            if (FAILING.get()) {
                throw new IllegalStateException("on purpose");
            }
        }

        @KafkaListener(topics = "configured${suffix}", groupId = "configured${suffix}", containerFactory = "configured")
        @IdempotentListener("configured")
        void configured(String payload) {
            on(payload);
        }

        @KafkaListener(
                id = "fenced",
                topics = "fenced${suffix}",
                groupId = "fenced${suffix}",
                containerFactory = "fenced")
        @IdempotentListener("fenced")
        void fenced(String payload) {
            on(payload);
        }

        @KafkaListener(
                id = "fenced-batch",
                topics = "fenced-batch${suffix}",
                groupId = "fenced-batch${suffix}",
                batch = "true",
                containerFactory = "fenced")
        @IdempotentListener("fenced-batch")
        void fencedBatch(List<String> payloads) {
            payloads.forEach(this::on);
        }
    }
}
