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
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.event.ListenerContainerNoLongerIdleEvent;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Beans of the application that throw around a listener, rather than in it: no record is lost or applied twice. */
class ThrowingBeansIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "records", "batches", "polls");
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

    @ParameterizedTest
    @CsvSource({
        "records, intercept",
        "records, success",
        "records, afterRecord",
        "records, observation start",
        "records, observation scope",
        "records, observation stop",
        "records, no longer idle",
        "records, rollback-only",
        "records, after commit",
        "records, interruption",
        "batches, interruption",
        "batches, no longer idle",
        "batches, rollback-only",
        "batches, after commit",
        "polls, observation start",
        "polls, observation scope",
        "polls, observation stop",
        "polls, rollback-only",
        "polls, after commit",
        "polls, interruption",
    })
    void nothingIsLostOrGivenUp(String kind, String fault) {
        List<String> payloads = Stream.of("1", "2", "3")
                .map(i -> "%s %s %s".formatted(kind, i, fault))
                .toList();
        container(kind).pause();
        await().until(() -> container(kind).isContainerPaused());
        send(kind, payloads.toArray(String[]::new));
        this.app.bean(Faults.class).prepare(kind, fault);
        container(kind).resume();
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).filteredOn(effect -> effect.endsWith(fault)).isEqualTo(payloads);
        assertThat(TopicContents.values(topic(kind) + "-dlt"))
                .filteredOn(value -> value.endsWith(fault))
                .isEmpty();
        assertThat(this.app.bean(Faults.class).isMet(kind, fault)).isTrue();
    }

    /** Each is met once, by the first record of its kind that comes its way. */
    static class Faults {

        private final Set<String> prepared = ConcurrentHashMap.newKeySet();

        void prepare(String kind, String fault) {
            this.prepared.add(kind + " " + fault);
        }

        boolean isMet(String kind, String fault) {
            return !this.prepared.contains(kind + " " + fault);
        }

        /** Whether it is to be met now; consumers are named after the kind. */
        boolean meet(String fault) {
            String kind = Thread.currentThread().getName().split("-")[0];
            return this.prepared.remove(kind + " " + fault);
        }

        void raise(String fault) {
            if (meet(fault)) {
                throw new ClassCastException(fault + ", which error handlers do not retry");
            }
        }
    }

    record Interceptor(Faults faults) implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            if (this.faults.meet("intercept")) {
                throw new IllegalStateException("intercept");
            }
            return record;
        }

        @Override
        public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            if (this.faults.meet("success")) {
                throw new IllegalStateException("success");
            }
        }

        @Override
        public void afterRecord(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            this.faults.raise("afterRecord");
        }
    }

    record Observations(Faults faults) implements ObservationHandler<KafkaRecordReceiverContext> {

        @Override
        public void onStart(KafkaRecordReceiverContext context) {
            this.faults.raise("observation start");
        }

        @Override
        public void onScopeOpened(KafkaRecordReceiverContext context) {
            this.faults.raise("observation scope");
        }

        @Override
        public void onStop(KafkaRecordReceiverContext context) {
            this.faults.raise("observation stop");
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof KafkaRecordReceiverContext;
        }
    }

    record Marker(Faults faults) implements TransactionExecutionListener {

        @Override
        public void afterBegin(TransactionExecution transaction, Throwable failure) {
            if (this.faults.meet("rollback-only")) {
                ((TransactionStatus) transaction).setRollbackOnly();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Faults.class, Interceptor.class, Marker.class, OfKinds.class})
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

    static class OfKinds {

        private final Effects effects;
        private final Faults faults;

        OfKinds(Effects effects, Faults faults) {
            this.effects = effects;
            this.faults = faults;
        }

        @KafkaListener(id = "records", topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener("records")
        void records(String payload) {
            on(payload);
        }

        @KafkaListener(id = "batches", topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener("batches")
        void batches(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @KafkaListener(
                id = "polls",
                topics = "polls${suffix}",
                groupId = "polls${suffix}",
                containerPostProcessor = "withoutInterceptor")
        @IdempotentListener(consumer = "polls", transactionPerPoll = "true")
        void polls(String payload) {
            on(payload);
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>>
                withoutInterceptor() {
            return container -> container.setRecordInterceptor(null);
        }

        private void on(String payload) {
            this.effects.happen(payload);
            if (this.faults.meet("interruption")) {
                Thread.currentThread().interrupt();
            }
            if (this.faults.meet("after commit")) {
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                    @Override
                    public void afterCommit() {
                        throw new ClassCastException("after the commit, which error handlers do not retry");
                    }
                });
            }
        }
    }
}
