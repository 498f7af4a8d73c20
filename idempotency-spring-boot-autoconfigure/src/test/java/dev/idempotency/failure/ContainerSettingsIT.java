package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Settings with which containers hold records that they have polled, commit more than they have delivered, or forget what they
 * hold: no record is lost.
 */
class ContainerSettingsIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(2, "immediate", "memory", "fixedStop", "fixedPause", "subMemory", "pinned");
        start(
                Listeners.class,
                "spring.kafka.listener.observation-enabled=true",
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
    @Test
    void whatAContainerHasNotDeliveredWhenItIsStoppedIsNotCommitted() {
        List<String> payloads = sendWhilePaused("fixedStop");
        MessageListenerContainer container = container("fixedStop");
        faults().prepare("fixedStop", "stop");
        container.resume();
        await().until(() -> !container.isRunning() && !container.isChildRunning());
        container.start();
        requireAllProcessed("fixedStop", payloads);
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

    /** Of batches per partition, containers forget what an error handler leaves over. */
    @Test
    void whatAnErrorHandlerLeavesOverOfABatchComesAgain() {
        List<String> payloads = sendWhilePaused("subMemory");
        faults().prepare("subMemory", "failure");
        container("subMemory").resume();
        requireAllProcessed("subMemory", payloads);
        assertThat(faults().isMet("subMemory", "failure")).isTrue();
    }

    /** Nothing is committed of a partition that is assigned by hand until it has a message. */
    @Test
    void whatCameBeforeTheStartIsNotDeliveredIfSomethingAroundTheListenerFails() {
        sendTo(1, "pinned", "pinned before");
        container("pinned").start();
        await().until(() -> {
            sendTo(0, "pinned", "pinned 1");
            return effectsOf("pinned").contains("pinned 1");
        });
        faults().prepare("pinned", "observation");
        sendTo(0, "pinned", "pinned 2");
        await().until(() -> effectsOf("pinned").contains("pinned 2"));
        sendTo(1, "pinned", "pinned 3");
        await().until(() -> effectsOf("pinned").contains("pinned 3"));
        assertThat(faults().isMet("pinned", "observation")).isTrue();
        assertThat(effectsOf("pinned")).containsExactly("pinned 1", "pinned 2", "pinned 3");
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
                if (meet("observation" + LATER)) {
                    prepare(kind(), "observation");
                }
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

        @Bean
        static ObservationRegistry observationRegistry(Faults faults) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new Observations(faults));
            return registry;
        }
    }

    static class Settings
            implements ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> {

        @Override
        public void configure(ConcurrentMessageListenerContainer<Object, Object> container) {
            ContainerProperties properties = container.getContainerProperties();
            String kind = container.getListenerId();
            properties.setPauseImmediate(kind.equals("immediate") || kind.equals("fixedPause"));
            properties.setStopImmediate(kind.startsWith("fixedStop"));
            properties.setFixTxOffsets(kind.startsWith("fixed"));
            properties.setSubBatchPerPartition(kind.startsWith("sub"));
            if (kind.toLowerCase().contains("memory")) {
                DefaultErrorHandler handler = new DefaultErrorHandler((record, failure) -> {}, new FixedBackOff(0, 3));
                handler.setSeekAfterError(false);
                container.setCommonErrorHandler(handler);
            }
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

        @KafkaListener(
                id = "pinned",
                groupId = "pinned${suffix}",
                topicPartitions =
                        @TopicPartition(
                                topic = "pinned${suffix}",
                                partitions = {"0", "1"}),
                properties = "auto.offset.reset=latest",
                autoStartup = "false")
        @IdempotentListener("pinned")
        void pinned(String payload) {
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

        @KafkaListener(id = "fixedPause", topics = "fixedPause${suffix}", groupId = "fixedPause${suffix}")
        @IdempotentListener("fixedPause")
        void fixedPause(String payload) {
            on(payload);
        }

        @KafkaListener(id = "subMemory", topics = "subMemory${suffix}", groupId = "subMemory${suffix}", batch = "true")
        @IdempotentListener("subMemory")
        void subMemory(List<String> payloads) {
            onEach(payloads);
        }
    }
}
