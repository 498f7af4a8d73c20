package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import io.micrometer.observation.ObservationRegistry;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.PartitionOffset;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.event.ListenerContainerIdleEvent;
import org.springframework.kafka.event.ListenerContainerNoLongerIdleEvent;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ConsumerSeekAware;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AssignmentCommitOption;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.util.CollectionUtils;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Beans that throw around a listener rather than in it, and error handlers that keep records in memory: no record is lost,
 * applied twice or dead-lettered.
 */
class AroundListenersIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(
                2,
                "records",
                "batches",
                "polls",
                "memory",
                "subMemory",
                "pinned",
                "sought",
                "latest",
                "sieve",
                "skipped",
                "immediate");
        start(
                List.of(
                        "spring.kafka.listener.observation-enabled=true",
                        "spring.kafka.listener.idle-event-interval=50ms"),
                Faults.class,
                Interceptor.class,
                Marker.class,
                Settings.class,
                Listeners.class);
    }

    private Faults faults() {
        return this.app.bean(Faults.class);
    }

    /** Sends two messages to each partition; they are delivered when the container is resumed. */
    private List<String> sendWhilePaused(String kind, String fault) {
        containerOf(kind).pause();
        await().until(() -> containerOf(kind).isContainerPaused());
        List<String> payloads = Stream.of("1", "2", "3", "4")
                .map(i -> "%s %s %s".formatted(kind, i, fault))
                .toList();
        for (int i = 0; i < payloads.size(); i++) {
            sendTo(kind, i / 2, payloads.get(i));
        }
        faults().prepare(kind, fault);
        return payloads;
    }

    /** With a batch per partition, as in {@code subMemory}, containers forget records that an error handler returns. */
    @ParameterizedTest
    @CsvSource({
        "records, intercept",
        "records, afterRecord",
        "records, observation",
        "records, no longer idle",
        "records, rollback-only",
        "records, interruption",
        "batches, no longer idle",
        "batches, rollback-only",
        "batches, interruption",
        "polls, rollback-only",
        "polls, interruption",
        "memory, failure and observation",
        "subMemory, failure",
    })
    void nothingIsLostOrGivenUp(String kind, String fault) {
        List<String> payloads = sendWhilePaused(kind, fault);
        containerOf(kind).resume();
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).filteredOn(effect -> effect.endsWith(fault)).isEqualTo(payloads);
        assertThat(TopicContents.values(topic(kind) + "-dlt")).isEmpty();
        assertThat(faults().areMet(kind)).isTrue();
    }

    /** Records that a filter discards count as done, as do the records of a lost partition. */
    @ParameterizedTest
    @CsvSource({"sieve, commit, 0", "immediate, commit of a lost partition, 2", "skipped, commit in vain, 0"})
    void aCommitThatFailsIsNoRecordsFault(String kind, String fault, int effects) {
        containerOf(kind).pause();
        await().until(() -> containerOf(kind).isContainerPaused());
        sendTo(kind, 0, kind + " 1");
        if (effects > 1) {
            sendTo(kind, 0, kind + " 2");
        }
        faults().prepare(kind, fault);
        containerOf(kind).resume();
        await().until(() -> faults().areMet(kind));
        containerOf(kind).resume();
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).hasSize(effects);
        assertThat(faults().givenUp).isEmpty();
        assertThat(TopicContents.values(topic(kind) + "-dlt")).isEmpty();
    }

    /** A partition has no committed offset before its first message, unless the container commits one at the assignment. */
    @ParameterizedTest
    @CsvSource({"pinned, 2", "latest, 2", "sought, 1 2"})
    void aConsumerThatHasCommittedNothingGoesBackToWhereItStarted(String kind, String expected) {
        sendTo(kind, 1, kind + " 1");
        faults().prepare(kind, "observation");
        containerOf(kind).start();
        await().until(() -> faults().isAssigned(kind));
        sendTo(kind, 1, kind + " 2");
        awaitCaughtUp(kind);
        assertThat(faults().areMet(kind)).isTrue();
        assertThat(effectsOf(kind))
                .containsExactly(Arrays.stream(expected.split(" "))
                        .map(each -> kind + " " + each)
                        .toArray(String[]::new));
    }

    /** Each fault happens once, at the first record of its kind; "a and b" is a, then b. */
    static class Faults {

        private final Set<String> prepared = ConcurrentHashMap.newKeySet();
        private final Set<String> assigned = ConcurrentHashMap.newKeySet();
        private final Set<Object> givenUp = ConcurrentHashMap.newKeySet();

        /** A container reports that it is idle between polls, when its partitions and their positions are known. */
        @EventListener
        void idle(ListenerContainerIdleEvent event) {
            if (!CollectionUtils.isEmpty(event.getTopicPartitions())) {
                this.assigned.add(kind());
            }
        }

        boolean isAssigned(String kind) {
            return this.assigned.contains(kind);
        }

        void prepare(String kind, String fault) {
            this.prepared.add(kind + " " + fault);
        }

        boolean areMet(String kind) {
            return this.prepared.stream().noneMatch(each -> each.startsWith(kind + " "));
        }

        static String kind() {
            return Thread.currentThread().getName().split("-")[0];
        }

        /** Whether the fault happens now; consumers are named after the kind. */
        boolean meet(String fault) {
            if (this.prepared.remove(kind() + " " + fault + " and observation")) {
                prepare(kind(), "observation");
                return true;
            }
            return this.prepared.remove(kind() + " " + fault);
        }

        void raise(String fault) {
            if (meet(fault)) {
                throw new ClassCastException(fault + ", which error handlers do not retry");
            }
        }

        OffsetAndMetadata commit(long offset) {
            raise("commit");
            if (meet("commit of a lost partition")) {
                throw new CommitFailedException();
            }
            if (meet("commit in vain")) {
                throw new TimeoutException();
            }
            return new OffsetAndMetadata(offset);
        }

        void fail(String fault) {
            if (meet(fault)) {
                throw new IllegalStateException(fault);
            }
        }
    }

    record Interceptor(Faults faults) implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            this.faults.fail("intercept");
            return record;
        }

        @Override
        public void afterRecord(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            this.faults.raise("afterRecord");
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

    record Settings(Faults faults)
            implements ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> {

        @Override
        public void configure(ConcurrentMessageListenerContainer<Object, Object> container) {
            ContainerProperties properties = container.getContainerProperties();
            properties.setOffsetAndMetadataProvider((metadata, offset) -> this.faults.commit(offset));
            switch (container.getListenerId()) {
                case "polls" -> {
                    container.setRecordInterceptor(null);
                    properties.setObservationEnabled(false);
                }
                case "latest", "sought" -> properties.setAssignmentCommitOption(AssignmentCommitOption.NEVER);
                case "memory", "subMemory" -> {
                    properties.setSubBatchPerPartition(container.getListenerId().equals("subMemory"));
                    DefaultErrorHandler handler =
                            new DefaultErrorHandler((record, failure) -> {}, new FixedBackOff(0, 3));
                    handler.setSeekAfterError(false);
                    container.setCommonErrorHandler(handler);
                }
                case "immediate", "skipped" -> {
                    properties.setPauseImmediate(true);
                    container.setCommonErrorHandler(new DefaultErrorHandler(
                            (record, failure) -> this.faults.givenUp.add(record.value()), new FixedBackOff(0, 0)));
                    if (container.getListenerId().equals("skipped")) {
                        properties.setAckMode(ContainerProperties.AckMode.RECORD);
                        container.setRecordInterceptor((record, consumer) -> null);
                    }
                }
                default -> {}
            }
        }

        @Bean(defaultCandidate = false)
        static RecordFilterStrategy<Object, Object> leavingNothing() {
            return record -> true;
        }

        @Bean
        static ObservationRegistry observationRegistry(Faults faults) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(context -> true).observationPredicate((name, context) -> {
                if (context instanceof KafkaRecordReceiverContext) {
                    faults.raise("observation");
                }
                return true;
            });
            return registry;
        }
    }

    static class Listeners extends ListenersOfKinds implements ConsumerSeekAware {

        @Autowired
        private Faults faults;

        @Autowired
        private KafkaListenerEndpointRegistry registry;

        @EventListener
        void noLongerIdle(ListenerContainerNoLongerIdleEvent event) {
            this.faults.raise("no longer idle");
        }

        @Override
        public void onPartitionsAssigned(
                Map<org.apache.kafka.common.TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
            if (Faults.kind().equals("sought")) {
                callback.seekToBeginning(assignments.keySet());
            }
        }

        @Override
        void on(String payload) {
            this.effects.happen(payload);
            if (this.faults.meet("interruption")) {
                Thread.currentThread().interrupt();
            }
            this.faults.fail("failure");
        }

        @KafkaListener(
                id = "pinned",
                groupId = "pinned${suffix}",
                topicPartitions =
                        @TopicPartition(
                                topic = "pinned${suffix}",
                                partitionOffsets = @PartitionOffset(partition = "1", initialOffset = "1")),
                autoStartup = "false")
        @IdempotentListener("pinned")
        void pinned(String payload) {
            on(payload);
        }

        @OfKind(value = "sought", properties = "auto.offset.reset=latest", autoStartup = "false")
        void sought(String payload) {
            on(payload);
        }

        @OfKind(value = "latest", properties = "auto.offset.reset=latest", autoStartup = "false")
        void latest(String payload) {
            on(payload);
        }

        @OfKind("immediate")
        void immediate(String payload) {
            on(payload);
            if (payload.endsWith("1")) {
                this.registry.getListenerContainer("immediate").pause();
            }
        }

        @OfKind("skipped")
        void skipped(String payload) {
            on(payload);
        }

        @OfKind(value = "sieve", batch = "true", filter = "leavingNothing")
        void sieve(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @OfKind("memory")
        void memory(String payload) {
            on(payload);
        }

        @OfKind(value = "subMemory", batch = "true")
        void subMemory(List<String> payloads) {
            payloads.forEach(this::on);
        }
    }
}
