package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.OnConflict;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.ReplayException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.store.ProcessedMessageStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.backoff.FixedBackOff;

/** A message that has the id of another one, and another payload, is never dropped unseen. */
@ExtendWith(OutputCaptureExtension.class)
class ConflictsIT extends SharedApplicationTest {

    private static final String[] KINDS = {
        "warned",
        "warned-batch",
        "off",
        "failing",
        "failing-batch",
        "failing-poll",
        "manual",
        "kept",
        "handled",
        "handled-batch",
        "own-factory",
        "retried",
        "tombstones"
    };

    @BeforeAll
    void start() {
        createTopics(1, KINDS);
        start(
                Listeners.class,
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=3",
                "spring.kafka.consumer.max-poll-records=50");
    }

    private List<Conflict> conflictsOf(String kind) {
        return this.app.bean(Observed.class).conflicts.getOrDefault(kind, List.of());
    }

    private RecordCoordinates at(String kind, long offset) {
        return new RecordCoordinates(topic(kind), 0, offset);
    }

    private List<String> deadLettersOf(String kind) {
        return TopicContents.values(topic(kind) + "-dlt");
    }

    private List<InboxEntry> inboxOf(String kind) {
        return this.app
                .bean(Inbox.class)
                .find(InboxQuery.ALL.withConsumer(kind))
                .entries();
    }

    @Test
    void itIsDroppedCountedAndKeptAndTheConsumerIsWarnedOfOnceAMinute(CapturedOutput output) {
        this.app.send(topic("warned"), "1", "first");
        this.app.send(topic("warned"), "1", "first");
        this.app.send(topic("warned"), "1", "secret other");
        this.app.send(topic("warned"), "1", "yet another");
        awaitCaughtUp("warned");
        assertThat(effectsOf("warned")).containsExactly("warned first");
        assertThat(conflictsOf("warned"))
                .extracting(Conflict::coordinates, Conflict::original)
                .containsExactly(tuple(at("warned", 2), at("warned", 0)), tuple(at("warned", 3), at("warned", 0)));
        assertThat(this.app.bean(Observed.class).duplicates.get("warned")).isEqualTo(3);
        assertThat(output)
                .containsOnlyOnce("dropped " + at("warned", 2) + " as a duplicate of " + at("warned", 0))
                .doesNotContain("dropped " + at("warned", 3), "secret");
        assertThat(deadLettersOf("warned")).isEmpty();
        MessageId kept = new MessageId("warned", "1~conflict:" + at("warned", 2));
        InboxMessage other = this.app.bean(Inbox.class).find(kept);
        assertThat(other).isNotNull();
        assertThat(other.payload()).asString(StandardCharsets.UTF_8).isEqualTo("secret other");
        assertThat(other.entry().lastError()).contains("MessageConflictException");
        assertThat(inboxOf("warned")).hasSize(3);
    }

    @Test
    void whereItIsNotLookedAtItIsDroppedAsADuplicateAndNothingIsKeptOfPayloads() {
        this.app.send(topic("off"), "1", "first");
        this.app.send(topic("off"), "1", "other");
        awaitCaughtUp("off");
        assertThat(effectsOf("off")).containsExactly("off first");
        assertThat(conflictsOf("off")).isEmpty();
        assertThat(this.app
                        .jdbc()
                        .queryForList(
                                "select payload_digest from idempotency_processed where consumer_id = 'off'",
                                Long.class))
                .containsOnlyNulls();
    }

    @ParameterizedTest
    @ValueSource(strings = {"failing", "failing-batch", "failing-poll", "manual"})
    void itIsDeadLetteredAtOnceAndWhatStandsAroundItIsProcessed(String kind) {
        send(kind, "before");
        this.app.send(topic(kind), "before", "other");
        send(kind, "after");
        this.app.send(topic(kind), "after", "after");
        this.app.send(topic(kind), "after", "another");
        send(kind, "last");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " after", kind + " before", kind + " last");
        assertThat(deadLettersOf(kind)).containsExactly("other", "another");
        assertThat(conflictsOf(kind)).extracting(Conflict::coordinates).containsExactly(at(kind, 1), at(kind, 4));
        assertThat(this.app.bean(Observed.class).retries.get(kind)).isNull();
    }

    @Test
    void aDeadLetterThatComesBackUnderTheSameIdIsRefusedAgainAndUnderAnotherProcessed() {
        String kind = "kept";
        this.app.send(topic(kind), "returned", "first returned");
        this.app.send(topic(kind), "returned", "second returned");
        awaitCaughtUp(kind);
        ConsumerRecord<byte[], byte[]> letter = TopicContents.inBytes(topic(kind) + "-dlt").stream()
                .filter(record -> new String(record.value(), StandardCharsets.UTF_8).equals("second returned"))
                .findFirst()
                .orElseThrow();
        send(kind, letter.headers(), "returned");
        awaitCaughtUp(kind);
        assertThat(deadLettersOf(kind).stream().filter("second returned"::equals))
                .hasSize(2);
        send(kind, letter.headers(), "of its own");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).contains(kind + " first returned", kind + " second returned");
    }

    private void send(String kind, Headers headers, String id) {
        Headers all = new RecordHeaders(headers);
        all.remove("message-id").add("message-id", id.getBytes(StandardCharsets.UTF_8));
        this.app.send(new ProducerRecord<>(topic(kind), 0, null, null, "second returned", all));
    }

    @Test
    void itIsKeptInTheInboxBesideTheOtherAndReplayedOnlyWhenThatIsForgotten() {
        String kind = "kept";
        this.app.send(topic(kind), "kept", "first kept");
        this.app.send(topic(kind), "kept", "second kept");
        awaitCaughtUp(kind);
        InboxEntry entry = inboxOf(kind).stream()
                .filter(each -> each.id().value().startsWith("kept~conflict:"))
                .findFirst()
                .orElseThrow();
        assertThat(entry.status()).isEqualTo(InboxStatus.FAILED);
        Inbox inbox = this.app.bean(Inbox.class);
        assertThat(inbox.replayFailed(kind).sent()).isZero();
        for (Runnable replay :
                List.<Runnable>of(() -> inbox.replay(entry.id()), () -> inbox.forgetAndReplay(entry.id()))) {
            assertThatExceptionOfType(ReplayException.class)
                    .isThrownBy(replay::run)
                    .withMessageContaining("its own id is 'kept'");
        }
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(new MessageId(kind, "kept")))
                .isTrue();
        inbox.replay(entry.id());
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).contains(kind + " first kept", kind + " second kept");
    }

    /** Of the id of the one, or of that under which the other is kept, no more than a digest is stored. */
    @ParameterizedTest
    @ValueSource(ints = {250, 300})
    void withALongIdItIsNotReplayedWithThoseThatHaveFailedEither(int length) {
        String kind = "kept";
        String id = "long".repeat(length).substring(0, length);
        String second = "second of " + length;
        this.app.send(topic(kind), id, "first of " + length);
        this.app.send(topic(kind), id, second);
        awaitCaughtUp(kind);
        Inbox inbox = this.app.bean(Inbox.class);
        List<String> kept = inboxOf(kind).stream()
                .filter(entry -> entry.status() == InboxStatus.FAILED)
                .map(entry -> inbox.find(entry.id()).payload())
                .map(payload -> new String(payload, StandardCharsets.UTF_8))
                .toList();
        assertThat(kept).contains(second);
        assertThat(inbox.replayFailed(kind).sent()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"handled", "handled-batch"})
    void theApplicationsOwnErrorHandlerGetsItAndDoesNotRetryIt(String kind) {
        send(kind, "before " + kind);
        this.app.send(topic(kind), "before " + kind, "other " + kind);
        send(kind, "after " + kind);
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " after " + kind, kind + " before " + kind);
        assertThat(this.app.bean(Observed.class).recovered).containsOnlyOnce("other " + kind);
        assertThat(conflictsOf(kind)).hasSize(1);
    }

    @Test
    void retryTopicsAreLeftOutAndACopyThatWasProcessedThereConflictsWithNothing() {
        this.app.send(topic("retried"), "1", "fails once");
        this.app.send(topic("retried"), "2", "first");
        this.app.send(topic("retried"), "2", "other");
        this.app.send(topic("retried"), "3", "last");
        awaitCaughtUp("retried");
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(effectsOf("retried"))
                .containsExactly("retried fails once", "retried first", "retried last"));
        this.app.send(topic("retried"), "1", "as if serialized otherwise");
        awaitCaughtUp("retried");
        assertThat(conflictsOf("retried")).hasSize(1);
        assertThat(TopicContents.values(topic("retried") + "-dlt")).containsExactly("other");
        assertThat(TopicContents.values(topic("retried") + "-retry")).containsExactly("fails once");
    }

    @Test
    void whereBytesCannotBeHadTextIsComparedAsItIsAndTheLogSaysSo(CapturedOutput output) {
        this.app.send(topic("own-factory"), "1", "first");
        this.app.send(topic("own-factory"), "1", "first");
        this.app.send(topic("own-factory"), "1", "other");
        awaitCaughtUp("own-factory");
        assertThat(conflictsOf("own-factory")).hasSize(1);
        assertThat(output)
                .containsOnlyOnce("Payloads of consumer 'own-factory' are compared only if they are text or bytes")
                .doesNotContain("Payloads of consumer 'warned'");
    }

    @Test
    void aTombstoneIsNotAnEmptyMessage() {
        this.app.send(topic("tombstones"), "1", null);
        this.app.send(topic("tombstones"), "1", null);
        this.app.send(topic("tombstones"), "1", "");
        awaitCaughtUp("tombstones");
        assertThat(effectsOf("tombstones")).containsExactly("tombstones null");
        assertThat(conflictsOf("tombstones")).extracting(Conflict::coordinates).containsExactly(at("tombstones", 2));
    }

    @Test
    void messagesOfOneBatchConflictWithEachOther() {
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sent.add("payload " + (i % 20));
        }
        sent.forEach(payload -> this.app.send(topic("warned-batch"), payload.substring(0, 9), payload));
        awaitCaughtUp("warned-batch");
        // 'payload 1' is also the id of 'payload 10' to 'payload 19'.
        assertThat(effectsOf("warned-batch")).hasSize(10);
        assertThat(conflictsOf("warned-batch")).hasSize(30);
    }

    @Import({Effects.class, Observed.class})
    static class Listeners {

        private final Effects effects;
        private boolean failed;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        private void happen(String kind, String payload) {
            this.effects.happen(kind + " " + payload);
        }

        @KafkaListener(topics = "warned${suffix}", groupId = "warned${suffix}")
        @IdempotentListener(consumer = "warned", inbox = "true")
        void warned(String payload) {
            happen("warned", payload);
        }

        @KafkaListener(topics = "warned-batch${suffix}", groupId = "warned-batch${suffix}", batch = "true")
        @IdempotentListener("warned-batch")
        void warnedBatch(List<String> payloads) {
            payloads.forEach(payload -> happen("warned-batch", payload));
        }

        @KafkaListener(topics = "off${suffix}", groupId = "off${suffix}")
        @IdempotentListener(consumer = "off", conflicts = OnConflict.OFF)
        void off(String payload) {
            happen("off", payload);
        }

        @KafkaListener(topics = "failing${suffix}", groupId = "failing${suffix}")
        @IdempotentListener(consumer = "failing", conflicts = OnConflict.FAIL)
        void failing(String payload) {
            happen("failing", payload);
        }

        @KafkaListener(topics = "kept${suffix}", groupId = "kept${suffix}")
        @IdempotentListener(consumer = "kept", conflicts = OnConflict.FAIL, inbox = "true")
        void kept(String payload) {
            happen("kept", payload);
        }

        @KafkaListener(topics = "failing-batch${suffix}", groupId = "failing-batch${suffix}", batch = "true")
        @IdempotentListener(consumer = "failing-batch", conflicts = OnConflict.FAIL)
        void failingBatch(List<String> payloads) {
            payloads.forEach(payload -> happen("failing-batch", payload));
        }

        @KafkaListener(topics = "failing-poll${suffix}", groupId = "failing-poll${suffix}")
        @IdempotentListener(consumer = "failing-poll", conflicts = OnConflict.FAIL, transactionPerPoll = "true")
        void failingPoll(String payload) {
            happen("failing-poll", payload);
        }

        @KafkaListener(topics = "manual${suffix}", groupId = "manual${suffix}", containerFactory = "manualAcks")
        @IdempotentListener(consumer = "manual", conflicts = OnConflict.FAIL)
        void manual(String payload, Acknowledgment acknowledgment) {
            happen("manual", payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "handled${suffix}", groupId = "handled${suffix}", containerFactory = "ownHandler")
        @IdempotentListener(consumer = "handled", conflicts = OnConflict.FAIL)
        void handled(String payload) {
            happen("handled", payload);
        }

        @KafkaListener(
                topics = "handled-batch${suffix}",
                groupId = "handled-batch${suffix}",
                containerFactory = "ownHandler",
                batch = "true")
        @IdempotentListener(consumer = "handled-batch", conflicts = OnConflict.FAIL)
        void handledBatch(List<String> payloads) {
            payloads.forEach(payload -> happen("handled-batch", payload));
        }

        @KafkaListener(
                topics = "own-factory${suffix}",
                groupId = "own-factory${suffix}",
                containerFactory = "ownConsumers")
        @IdempotentListener("own-factory")
        void ownFactory(String payload) {
            happen("own-factory", payload);
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50))
        @KafkaListener(topics = "retried${suffix}", groupId = "retried${suffix}")
        @IdempotentListener(consumer = "retried", conflicts = OnConflict.FAIL)
        void retried(String payload) {
            happen("retried", payload);
            if (payload.equals("fails once") && !this.failed) {
                this.failed = true;
                throw new IllegalStateException("the first attempt fails");
            }
        }

        @KafkaListener(topics = "tombstones${suffix}", groupId = "tombstones${suffix}")
        @IdempotentListener("tombstones")
        void tombstones(@Payload(required = false) String payload) {
            happen("tombstones", String.valueOf(payload));
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> manualAcks(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.getContainerProperties().setAckMode(AckMode.MANUAL);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> ownHandler(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers,
                Observed observed) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setCommonErrorHandler(new DefaultErrorHandler(
                    (record, exception) -> observed.recovered.add(String.valueOf(record.value())),
                    new FixedBackOff(0, 5)));
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> ownConsumers(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, new OwnConsumerFactory(consumers));
            return factory;
        }
    }

    /** One that is not Spring Kafka's, so that nobody can stand before its deserializers. */
    private record OwnConsumerFactory(ConsumerFactory<Object, Object> springs)
            implements ConsumerFactory<Object, Object> {

        @Override
        public Consumer<Object, Object> createConsumer(
                String groupId, String clientIdPrefix, String clientIdSuffix, Properties properties) {
            return this.springs.createConsumer(groupId, clientIdPrefix, clientIdSuffix, properties);
        }

        @Override
        public Consumer<Object, Object> createConsumer(String groupId, String clientIdPrefix, String clientIdSuffix) {
            return createConsumer(groupId, clientIdPrefix, clientIdSuffix, null);
        }

        @Override
        public boolean isAutoCommit() {
            return this.springs.isAutoCommit();
        }

        @Override
        public Map<String, Object> getConfigurationProperties() {
            return this.springs.getConfigurationProperties();
        }
    }

    /** What observers and the application's error handler have heard of. */
    static class Observed implements IdempotencyObserver {

        final Map<String, List<Conflict>> conflicts = new ConcurrentHashMap<>();
        final Map<String, Integer> duplicates = new ConcurrentHashMap<>();
        final Map<String, Integer> retries = new ConcurrentHashMap<>();
        final List<String> recovered = new CopyOnWriteArrayList<>();

        @Override
        public ConsumerObserver observe(ConsumerDescription consumer) {
            return new ConsumerObserver() {

                @Override
                public void conflict(Conflict conflict) {
                    Observed.this
                            .conflicts
                            .computeIfAbsent(consumer.name(), name -> new CopyOnWriteArrayList<>())
                            .add(conflict);
                }

                @Override
                public void duplicate(Duplicate duplicate) {
                    Observed.this.duplicates.merge(consumer.name(), 1, Integer::sum);
                }

                @Override
                public void retried(int messages) {
                    Observed.this.retries.merge(consumer.name(), messages, Integer::sum);
                }
            };
        }
    }
}
