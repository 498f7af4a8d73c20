package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.event.ListenerContainerNoLongerIdleEvent;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Settings with which containers hold records that they have polled, commit more than they have delivered, or forget what they
 * hold: no record is lost. Those of kinds that end in {@code Tx} take part in Kafka transactions.
 */
class ContainerSettingsIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(
                2,
                "immediate",
                "memory",
                "fixedStop",
                "fixedPause",
                "fixedStopTx",
                "subMemory",
                "memoryBatchTx",
                "idleTx",
                "idleBatchTx",
                "rollbackTx",
                "recoverTx",
                "handlerBatchTx");
        start(
                Listeners.class,
                "spring.kafka.listener.observation-enabled=true",
                "spring.kafka.listener.idle-event-interval=50ms",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.max-interval=20ms");
    }

    private MessageListenerContainer container(String kind) {
        return this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(kind);
    }

    private Faults faults() {
        return this.app.bean(Faults.class);
    }

    /** Sends two messages to each partition, which are delivered when the container is resumed. */
    private List<String> sendWhilePaused(String kind) {
        container(kind).pause();
        await().until(() -> container(kind).isContainerPaused());
        List<String> payloads =
                Stream.of("1", "2", "3", "4").map(i -> kind + " " + i).toList();
        for (int i = 0; i < payloads.size(); i++) {
            sendTo(i / 2, kind, payloads.get(i));
        }
        return payloads;
    }

    private void sendTo(int partition, String kind, String payload) {
        ProducerRecord<Object, Object> record = new ProducerRecord<>(topic(kind), partition, null, payload);
        record.headers().add("message-id", payload.getBytes(StandardCharsets.UTF_8));
        this.app.send(record);
    }

    private void requireAllProcessed(String kind, List<String> payloads) {
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).isEqualTo(payloads);
        assertThat(TopicContents.values(topic(kind) + "-dlt")).isEmpty();
    }

    @Test
    void whatIsHeldByAPausedContainerComesAgainIfSomethingAroundTheListenerFails() {
        List<String> payloads = sendWhilePaused("immediate");
        faults().prepare("immediate", "pause");
        container("immediate").resume();
        await().until(() ->
                effectsOf("immediate").size() == 1 && container("immediate").isContainerPaused());
        faults().prepare("immediate", "observation");
        container("immediate").resume();
        requireAllProcessed("immediate", payloads);
        assertThat(faults().isMet("immediate", "observation")).isTrue();
    }

    @Test
    void whatIsHeldToBeRetriedComesAgainIfSomethingAroundTheListenerFails() {
        List<String> payloads = sendWhilePaused("memory");
        faults().prepare("memory", "failure", "observation after failure");
        container("memory").resume();
        requireAllProcessed("memory", payloads);
        assertThat(faults().isMet("memory", "observation")).isTrue();
    }

    /** With {@code fixTxOffsets}, Spring Kafka commits where its consumer stands, which is behind all of them. */
    @ParameterizedTest
    @ValueSource(strings = {"fixedStop", "fixedStopTx"})
    void whatAContainerHasNotDeliveredWhenItIsStoppedIsNotCommitted(String kind) {
        List<String> payloads = sendWhilePaused(kind);
        faults().prepare(kind, "stop");
        container(kind).resume();
        await().until(() -> !container(kind).isRunning() && !container(kind).isChildRunning());
        container(kind).start();
        requireAllProcessed(kind, payloads);
    }

    @Test
    void whatIsHeldByAPausedContainerWhenItIsStoppedIsNotCommitted() {
        List<String> payloads = sendWhilePaused("fixedPause");
        faults().prepare("fixedPause", "pause");
        container("fixedPause").resume();
        await().until(() ->
                effectsOf("fixedPause").size() == 1 && container("fixedPause").isContainerPaused());
        container("fixedPause").stop();
        container("fixedPause").resume();
        container("fixedPause").start();
        requireAllProcessed("fixedPause", payloads);
    }

    /** Of batches per partition, and of those with Kafka transactions, containers forget what an error handler leaves over. */
    @ParameterizedTest
    @ValueSource(strings = {"subMemory", "memoryBatchTx"})
    void whatAnErrorHandlerLeavesOverOfABatchComesAgain(String kind) {
        List<String> payloads = sendWhilePaused(kind);
        faults().prepare(kind, "failure");
        container(kind).resume();
        requireAllProcessed(kind, payloads);
        assertThat(faults().isMet(kind, "failure")).isTrue();
    }

    /** As when the brokers are away, which may be why the transaction was rolled back. */
    @ParameterizedTest
    @ValueSource(strings = {"rollbackTx", "recoverTx"})
    void whatWasRolledBackComesAgainIfNoTransactionCanBegin(String kind) {
        List<String> payloads = sendWhilePaused(kind);
        faults().prepare(kind, "failure", "begin after failure");
        container(kind).resume();
        requireAllProcessed(kind, payloads);
        assertThat(faults().isMet(kind, "begin")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"idleTx", "idleBatchTx"})
    void whatWasPolledComesAgainIfSomethingAroundTheTransactionFails(String kind) {
        List<String> payloads = sendWhilePaused(kind);
        faults().prepare(kind, "no longer idle");
        container(kind).resume();
        requireAllProcessed(kind, payloads);
        assertThat(faults().isMet(kind, "no longer idle")).isTrue();
    }

    @Test
    void aMessageOfABatchThatTheApplicationsErrorHandlerGivesUpDoesNotHoldUpTheOthers() {
        container("handlerBatchTx").pause();
        await().until(() -> container("handlerBatchTx").isContainerPaused());
        for (String payload : List.of("poison", "good", "better")) {
            sendTo(0, "handlerBatchTx", "handlerBatchTx " + payload);
        }
        container("handlerBatchTx").resume();
        awaitCaughtUp("handlerBatchTx");
        assertThat(effectsOf("handlerBatchTx"))
                .containsExactlyInAnyOrder(
                        "handlerBatchTx recovered poison", "handlerBatchTx good", "handlerBatchTx better");
    }

    /** Each is met once, by the first record of its kind that comes its way. */
    static class Faults {

        private static final String LATER = " after failure";

        private final Set<String> prepared = ConcurrentHashMap.newKeySet();

        void prepare(String kind, String... faults) {
            for (String fault : faults) {
                this.prepared.add(kind + " " + fault);
            }
        }

        boolean isMet(String kind, String fault) {
            return !this.prepared.contains(kind + " " + fault) && !this.prepared.contains(kind + " " + fault + LATER);
        }

        /** Whether it is to be met now; consumers are named after the kind. */
        boolean meet(String fault) {
            return this.prepared.remove(kind() + " " + fault);
        }

        void raise(String fault) {
            if (meet(fault)) {
                throw new ClassCastException(fault + ", which error handlers do not retry");
            }
        }

        void fail() {
            if (meet("failure")) {
                Stream.of("observation", "begin")
                        .filter(fault -> meet(fault + LATER))
                        .forEach(fault -> prepare(kind(), fault));
                throw new IllegalStateException("on purpose");
            }
        }

        static String kind() {
            return Thread.currentThread().getName().split("-")[0];
        }
    }

    record Observations(Faults faults) implements ObservationHandler<KafkaRecordReceiverContext> {

        @Override
        public void onStart(KafkaRecordReceiverContext context) {
            this.faults.raise("observation");
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof KafkaRecordReceiverContext;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Faults.class, Settings.class, OfKinds.class})
    static class Listeners {

        private final Faults faults;

        Listeners(Faults faults) {
            this.faults = faults;
        }

        @EventListener
        void noLongerIdle(ListenerContainerNoLongerIdleEvent event) {
            this.faults.raise("no longer idle");
        }

        @Bean
        static ObservationRegistry observationRegistry(Faults faults) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new Observations(faults));
            return registry;
        }
    }

    record Settings(ProducerFactory<?, ?> producers, Faults faults, ObjectProvider<Effects> effects)
            implements ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> {

        @Override
        public void configure(ConcurrentMessageListenerContainer<Object, Object> container) {
            ContainerProperties properties = container.getContainerProperties();
            String kind = container.getListenerId();
            properties.setPauseImmediate(kind.equals("immediate") || kind.equals("fixedPause"));
            properties.setStopImmediate(kind.startsWith("fixedStop"));
            properties.setFixTxOffsets(kind.startsWith("fixed"));
            properties.setSubBatchPerPartition(kind.startsWith("sub"));
            if (kind.toLowerCase().contains("memory") || kind.startsWith("handler")) {
                DefaultErrorHandler handler = new DefaultErrorHandler(
                        (record, failure) -> recover(kind, record.value()), new FixedBackOff(0, 3));
                handler.setSeekAfterError(kind.startsWith("handler"));
                container.setCommonErrorHandler(handler);
            }
            if (kind.endsWith("Tx")) {
                KafkaTransactionManager<Object, Object> transactions = transactions(kind);
                properties.setKafkaAwareTransactionManager(transactions);
                if (kind.startsWith("recover")) {
                    container.setAfterRollbackProcessor(new DefaultAfterRollbackProcessor<>(
                            (record, failure) -> recover(kind, record.value()),
                            new FixedBackOff(0, 3),
                            new KafkaTemplate<>(transactions.getProducerFactory()),
                            true));
                }
            }
        }

        private void recover(String kind, Object value) {
            this.effects.getObject().happen(String.valueOf(value).replace(kind, kind + " recovered"));
        }

        private KafkaTransactionManager<Object, Object> transactions(String kind) {
            Map<String, Object> configuration = new HashMap<>(this.producers.getConfigurationProperties());
            configuration.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, TestKafka.uniqueName(kind));
            return new KafkaTransactionManager<>(new DefaultKafkaProducerFactory<>(configuration)) {

                @Override
                protected void doBegin(Object transaction, TransactionDefinition definition) {
                    Settings.this.faults.raise("begin");
                    super.doBegin(transaction, definition);
                }
            };
        }
    }

    static class OfKinds {

        private final Effects effects;
        private final Faults faults;
        private final ObjectProvider<KafkaListenerEndpointRegistry> registry;

        OfKinds(Effects effects, Faults faults, ObjectProvider<KafkaListenerEndpointRegistry> registry) {
            this.effects = effects;
            this.faults = faults;
            this.registry = registry;
        }

        private void on(String payload) {
            this.effects.happen(payload);
            MessageListenerContainer container = this.registry.getObject().getListenerContainer(Faults.kind());
            if (this.faults.meet("pause")) {
                container.pause();
            }
            if (this.faults.meet("stop")) {
                container.stop(() -> {});
            }
            this.faults.fail();
            if (payload.endsWith("poison")) {
                throw new IllegalStateException("on purpose");
            }
        }

        private void onEach(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                try {
                    on(payloads.get(i));
                } catch (IllegalStateException ex) {
                    throw new BatchListenerFailedException("here", ex, i);
                }
            }
        }

        @KafkaListener(id = "immediate", topics = "immediate${suffix}", groupId = "immediate${suffix}")
        @IdempotentListener("immediate")
        void immediate(String payload) {
            on(payload);
        }

        @KafkaListener(id = "memory", topics = "memory${suffix}", groupId = "memory${suffix}")
        @IdempotentListener("memory")
        void memory(String payload) {
            on(payload);
        }

        @KafkaListener(id = "fixedStop", topics = "fixedStop${suffix}", groupId = "fixedStop${suffix}")
        @IdempotentListener("fixedStop")
        void fixedStop(String payload) {
            on(payload);
        }

        @KafkaListener(id = "fixedStopTx", topics = "fixedStopTx${suffix}", groupId = "fixedStopTx${suffix}")
        @IdempotentListener("fixedStopTx")
        void fixedStopTx(String payload) {
            on(payload);
        }

        @KafkaListener(id = "fixedPause", topics = "fixedPause${suffix}", groupId = "fixedPause${suffix}")
        @IdempotentListener("fixedPause")
        void fixedPause(String payload) {
            on(payload);
        }

        @KafkaListener(id = "idleTx", topics = "idleTx${suffix}", groupId = "idleTx${suffix}")
        @IdempotentListener("idleTx")
        void idleTx(String payload) {
            on(payload);
        }

        @KafkaListener(id = "rollbackTx", topics = "rollbackTx${suffix}", groupId = "rollbackTx${suffix}")
        @IdempotentListener("rollbackTx")
        void rollbackTx(String payload) {
            on(payload);
        }

        @KafkaListener(id = "recoverTx", topics = "recoverTx${suffix}", groupId = "recoverTx${suffix}")
        @IdempotentListener("recoverTx")
        void recoverTx(String payload) {
            on(payload);
        }

        @KafkaListener(id = "subMemory", topics = "subMemory${suffix}", groupId = "subMemory${suffix}", batch = "true")
        @IdempotentListener("subMemory")
        void subMemory(List<String> payloads) {
            onEach(payloads);
        }

        @KafkaListener(
                id = "memoryBatchTx",
                topics = "memoryBatchTx${suffix}",
                groupId = "memoryBatchTx${suffix}",
                batch = "true")
        @IdempotentListener("memoryBatchTx")
        void memoryBatchTx(List<String> payloads) {
            onEach(payloads);
        }

        @KafkaListener(
                id = "idleBatchTx",
                topics = "idleBatchTx${suffix}",
                groupId = "idleBatchTx${suffix}",
                batch = "true")
        @IdempotentListener("idleBatchTx")
        void idleBatchTx(List<String> payloads) {
            onEach(payloads);
        }

        @KafkaListener(
                id = "handlerBatchTx",
                topics = "handlerBatchTx${suffix}",
                groupId = "handlerBatchTx${suffix}",
                batch = "true")
        @IdempotentListener("handlerBatchTx")
        void handlerBatchTx(List<String> payloads) {
            onEach(payloads);
        }
    }
}
