package dev.idempotency.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotentListener;
import dev.idempotency.ReconciliationException;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.CommonContainerStoppingErrorHandler;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.handler.annotation.Payload;

/** Topics and containers that are not as one would expect them. */
class UnusualTopicsIT extends SharedApplicationTest {

    private Reconciliation reconciliation;

    @BeforeAll
    void start() throws Exception {
        TestKafka.sharedAdmin()
                .createTopics(List.of(new NewTopic(topic("compacted"), 1, (short) 1)
                        .configs(Map.of(
                                TopicConfig.CLEANUP_POLICY_CONFIG, "compact",
                                TopicConfig.SEGMENT_MS_CONFIG, "50",
                                TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.001",
                                TopicConfig.DELETE_RETENTION_MS_CONFIG, "0"))))
                .all()
                .get(30, TimeUnit.SECONDS);
        createTopics(1, "marked", "misused", "careless", "several", "several-more", "named-a", "named-b", "twice");
        createTopics(1, "unused", "emptied", "breaking", "positions", "asking");
        createTopics(2, "pinned", "apart");
        TestKafka.createTopics(1, topic("reborn"), topic("reborn") + "-dlt", topic("apart") + "-dlt");
        createTopics(1, IntStream.range(0, 20).mapToObj(i -> "many-" + i).toArray(String[]::new));
        TestKafka.createTopics(1, topic("many-0") + "-dlt");
        start(
                Listeners.class,
                "idempotency.errors.max-attempts=1",
                "spring.kafka.properties.config.providers=counting",
                "spring.kafka.properties.config.providers.counting.class=" + CountingConfigProvider.class.getName());
        this.reconciliation = this.app.bean(Reconciliation.class);
    }

    @Test
    void whatCompactionHasRemovedIsNotMissedThoughTheGroupsOffsetLiesInTheHole() throws Exception {
        sendKeyed("compacted", "first key", "compacted first");
        sendKeyed("compacted", "other key", "compacted survivor");
        sendKeyed("compacted", "key", "compacted a");
        sendKeyed("compacted", "key", "compacted b");
        awaitCaughtUp("compacted");
        stopContainer("compacted");
        forgetRows("compacted");
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    sendKeyed("compacted", "key", "compacted c");
                    return TopicContents.values(topic("compacted")).stream()
                            .noneMatch(value -> value.matches("compacted [ab]"));
                });
        ReconciliationReport report = reconcile("compacted", false);
        assertFates(report, Map.of(RecordFate.PROCESSED, 1L, RecordFate.MISSING, 1L));
        assertThat(report.missing()).extracting(MissingMessage::messageId).containsExactly("compacted survivor");
        assertThat(report.records()).isEqualTo(4);
        assertThat(report.share()).isEqualTo(1.0);
        // Or the broker would still compact it while it is shut down.
        TestKafka.sharedAdmin().deleteTopics(List.of(topic("compacted"))).all().get(30, TimeUnit.SECONDS);
    }

    @Test
    void aReadThatEndsWithTheMarksOfTransactionsOrBeforeAnOpenOneComesToItsEnd() {
        sendFirst("marked");
        stopContainer("marked");
        Map<String, Object> settings =
                Map.of("bootstrap.servers", TestKafka.bootstrapServers(), "transactional.id", topic("marked"));
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record("marked", 0, null, "marked committed"));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(record("marked", 0, null, "marked rolled back"));
            producer.flush();
            producer.abortTransaction();
            // The broker answers before it has written the mark.
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> TestApplication.endOffsets(topic("marked"))
                    .equals(Map.of(0, 5L)));
            commitAll("marked");
            ReconciliationReport report = reconcile("marked", false);
            assertFates(report, Map.of(RecordFate.PROCESSED, 1L, RecordFate.MISSING, 1L));
            assertThat(report.records()).isEqualTo(5);
            assertThat(report.share()).isEqualTo(1.0);
            producer.beginTransaction();
            producer.send(record("marked", 0, null, "marked open"));
            producer.flush();
            commitAll("marked");
            assertFates(reconcile("marked", false), Map.of(RecordFate.PROCESSED, 1L, RecordFate.MISSING, 1L));
            producer.abortTransaction();
        }
    }

    /** The offsets of all that was polled are committed by hand, before it is processed, and then the container stops. */
    @Test
    void whatAContainerCommittedByHandWithoutProcessingItIsFoundAndReplayed() {
        sendFirst("misused");
        stopContainer("misused");
        send("misused", "misused fails", "misused a", "misused b");
        MessageListenerContainer container = container("misused");
        container.start();
        awaitCaughtUp("misused");
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !container.isRunning());
        assertThat(effectsOf("misused")).containsExactly("misused first");
        assertFates(reconcile("misused", false), Map.of(RecordFate.PROCESSED, 1L, RecordFate.MISSING, 3L));
        Listeners.MENDED.add("misused");
        assertThat(reconcile("misused", true).replayed()).isEqualTo(3);
        container.start();
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(effectsOf("misused"))
                .containsExactly("misused a", "misused b", "misused fails", "misused first"));
        assertThat(reconcile("misused", false).count(RecordFate.MISSING)).isZero();
    }

    @Test
    void whatAnErrorHandlerOfTheApplicationsOwnDropsIsFoundAndReplayed() {
        send("careless", "careless a", "careless fails");
        awaitCaughtUp("careless");
        assertFates(reconcile("careless", false), Map.of(RecordFate.PROCESSED, 1L, RecordFate.MISSING, 1L));
        Listeners.MENDED.add("careless");
        assertThat(reconcile("careless", true).replayed()).isOne();
        awaitCaughtUp("careless");
        assertThat(effectsOf("careless")).containsExactly("careless a", "careless fails");
    }

    @Test
    void aDeadLetterOfATopicThatIsGoneDoesNotStandForTheRecordThatIsAtItsPlaceNow() {
        sendFirst("reborn");
        send("reborn", "reborn fails");
        awaitCaughtUp("reborn");
        assertFates(reconcile("reborn", false), Map.of(RecordFate.PROCESSED, 1L, RecordFate.DEAD_LETTERED, 1L));
        stopContainer("reborn");
        recreateTopic("reborn");
        send("reborn", "reborn new", "reborn newer");
        commitAll("reborn");
        assertFates(reconcile("reborn", false), Map.of(RecordFate.MISSING, 2L));
    }

    @Test
    void partitionsThatAreAnothersAreNotLookedAtThoughTheyAreOfTheSameTopicAndGroup() {
        this.app.send(record("pinned", 0, null, "pinned a"));
        this.app.send(record("pinned", 1, null, "pinned b"));
        awaitCaughtUp("pinned");
        assertFates(reconcile("pinned", false), Map.of(RecordFate.PROCESSED, 1L));
        assertFates(reconcile("pinned-too", false), Map.of(RecordFate.PROCESSED, 1L));
    }

    @Test
    void allTopicsOfAListenerAreLookedAtBeTheyNamedOrMatched() {
        send("several", "several a");
        send("several-more", "several b");
        send("named-a", "named a");
        send("named-b", "named b");
        this.app.awaitCaughtUp(topic("several"), topic("several"));
        this.app.awaitCaughtUp(topic("several"), topic("several-more"));
        this.app.awaitCaughtUp(topic("named"), topic("named-a"));
        this.app.awaitCaughtUp(topic("named"), topic("named-b"));
        assertFates(reconcile("several", false), Map.of(RecordFate.PROCESSED, 2L));
        assertFates(reconcile("named", false), Map.of(RecordFate.PROCESSED, 2L));
    }

    /** Of which there may be thousands. */
    @Test
    void noClientIsMadeForEachTopic() {
        send("many-0", "many fails");
        this.app.awaitCaughtUp(topic("many"), topic("many-0"));
        int before = CountingConfigProvider.CLIENTS.get();
        assertFates(reconcile("many", false), Map.of(RecordFate.DEAD_LETTERED, 1L));
        assertThat(CountingConfigProvider.CLIENTS.get() - before).isBetween(1, 10);
    }

    @Test
    void recordsThatTwoContainersShareAreLookedAtAndReplayedOnce() {
        sendFirst("twice");
        send("twice", "twice a", "twice b");
        awaitCaughtUp("twice");
        assertFates(reconcile("twice", false), Map.of(RecordFate.PROCESSED, 3L));
        forgetRows("twice");
        ReconciliationReport report = reconcile("twice", true);
        assertThat(report.missing()).hasSize(2);
        assertThat(report.replayed()).isEqualTo(2);
    }

    /** Two records of that size are not read at once, so that one container is being looked at while the second one waits. */
    @Test
    void whatDiesUntilTheNextContainerIsLookedAtIsFoundAmongTheDead() throws Exception {
        String large = "!".repeat(600_000);
        for (int partition = 0; partition < 2; partition++) {
            this.app.send(new ProducerRecord<>(topic("apart"), partition, null, "apart fails" + large));
            this.app.send(new ProducerRecord<>(topic("apart"), partition, null, "apart gate" + large));
        }
        awaitCaughtUp("apart");
        this.reconciliation.start(ReconciliationRequest.of("apart", Duration.ofDays(1)));
        int first = Listeners.STOPPED.poll(30, TimeUnit.SECONDS);
        this.app.send(new ProducerRecord<>(topic("apart"), 1 - first, null, "apart fails late"));
        awaitCaughtUp("apart");
        Listeners.OPEN.countDown();
        assertFates(awaitEnd("apart"), Map.of(RecordFate.PROCESSED, 2L, RecordFate.DEAD_LETTERED, 3L));
    }

    @Test
    void aGroupThatHasCommittedNothingHasNothingToBeMissed() {
        send("unused", "unused a");
        ReconciliationReport report = reconcile("unused", true);
        assertThat(report.state()).isEqualTo(State.COMPLETED);
        assertThat(report.read()).isZero();
        assertThat(report.replayed()).isZero();
    }

    @Test
    void aTombstoneIsAMessageAsAnyOther() {
        sendFirst("emptied");
        this.app.send(topic("emptied"), "emptied a", null);
        awaitCaughtUp("emptied");
        assertFates(reconcile("emptied", false), Map.of(RecordFate.PROCESSED, 2L));
        forgetRows("emptied");
        assertThat(reconcile("emptied", true).replayed()).isOne();
        awaitCaughtUp("emptied");
        assertThat(effectsOf("emptied")).containsExactly("emptied emptied first", "emptied null", "emptied null");
    }

    /** Not even what nobody expects leaves one behind that seems to run for ever. */
    @Test
    void anErrorOfADeserializerEndsItAsFailed() {
        stopContainer("breaking");
        send("breaking", "breaking");
        commitAll("breaking");
        ReconciliationReport report = reconcile("breaking", false);
        assertThat(report.state()).isEqualTo(State.FAILED);
        assertThat(report.failure()).contains("NoClassDefFoundError");
    }

    @Test
    void keysThatAreAskedOfADatabaseThatIsAwayEndItAsFailed() {
        send("asking", "asking a");
        awaitCaughtUp("asking");
        Listeners.AWAY.set(true);
        ReconciliationReport report = reconcile("asking", false);
        Listeners.AWAY.set(false);
        assertThat(report.state()).isEqualTo(State.FAILED);
        assertThat(report.count(RecordFate.WITHOUT_KEY)).isZero();
        assertFates(reconcile("asking", false), Map.of(RecordFate.PROCESSED, 1L));
    }

    @Test
    void aConsumerThatRemembersNoIdsIsRefusedWithTheReason() {
        assertThatExceptionOfType(ReconciliationException.class)
                .isThrownBy(() -> this.reconciliation.start(ReconciliationRequest.of("positions", Duration.ofDays(1))))
                .withMessageContainingAll("'positions'", "Strategy.MESSAGE_ID");
    }

    private static void assertFates(ReconciliationReport report, Map<RecordFate, Long> expected) {
        assertThat(report.failure()).isNull();
        assertThat(report.state()).isEqualTo(State.COMPLETED);
        Map<RecordFate, Long> found = report.fates().entrySet().stream()
                .filter(fate -> fate.getValue() > 0)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        assertThat(found).isEqualTo(expected);
    }

    private MessageListenerContainer container(String id) {
        return Objects.requireNonNull(
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(id));
    }

    private void stopContainer(String id) {
        container(id).stop();
    }

    /** Where a consumer's knowledge begins. */
    private void sendFirst(String kind) {
        send(kind, kind + " first");
        awaitCaughtUp(kind);
    }

    /** All but the first one. */
    private void forgetRows(String consumer) {
        assertThat(this.app
                        .jdbc()
                        .update(
                                "delete from idempotency_processed where consumer_id = ? and message_id <> ?",
                                consumer,
                                consumer + " first"))
                .isPositive();
    }

    private void commitAll(String kind) {
        TestApplication.commitAll(topic(kind), topic(kind));
    }

    private ProducerRecord<String, String> record(String kind, int partition, String key, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic(kind), partition, key, id);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private void sendKeyed(String kind, String key, String id) {
        this.app.send(record(kind, 0, key, id));
    }

    private ReconciliationReport reconcile(String consumer, boolean replay) {
        this.reconciliation.start(
                new ReconciliationRequest(consumer, Duration.ofDays(1), replay ? Instant.EPOCH : null));
        return awaitEnd(consumer);
    }

    private ReconciliationReport awaitEnd(String consumer) {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> this.reconciliation.lastReconciliation(consumer),
                        report -> report != null && report.state() != State.RUNNING);
    }

    /** Not to be had in the application any more, as after an update of a library. */
    public static final class BreakingDeserializer implements Deserializer<String> {

        @Override
        public String deserialize(String topic, byte[] data) {
            throw new NoClassDefFoundError("some/Library");
        }
    }

    /** Is made with every client. */
    public static final class CountingConfigProvider implements ConfigProvider {

        static final AtomicInteger CLIENTS = new AtomicInteger();

        public CountingConfigProvider() {
            CLIENTS.incrementAndGet();
        }

        @Override
        public ConfigData get(String path) {
            return new ConfigData(Map.of());
        }

        @Override
        public ConfigData get(String path, Set<String> keys) {
            return new ConfigData(Map.of());
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }

    @Import(Effects.class)
    static class Listeners {

        static final Set<String> MENDED = ConcurrentHashMap.newKeySet();
        static final BlockingQueue<Integer> STOPPED = new LinkedBlockingQueue<>();
        static final CountDownLatch OPEN = new CountDownLatch(1);
        static final AtomicBoolean AWAY = new AtomicBoolean();

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        private void work(String kind, String payload) {
            this.effects.happen(payload);
            if (payload.contains("fails") && !MENDED.contains(kind)) {
                throw new IllegalStateException("on purpose");
            }
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> misusing(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            factory.getContainerProperties().setAckMode(AckMode.MANUAL);
            factory.setCommonErrorHandler(new CommonContainerStoppingErrorHandler());
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> dropping(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            factory.setCommonErrorHandler(new CommonErrorHandler() {

                @Override
                public boolean handleOne(
                        Exception thrown,
                        ConsumerRecord<?, ?> record,
                        Consumer<?, ?> consumer,
                        MessageListenerContainer container) {
                    return true;
                }
            });
            return factory;
        }

        @KafkaListener(id = "compacted", topics = "compacted${suffix}", groupId = "compacted${suffix}")
        @IdempotentListener(consumer = "compacted")
        void compacted(String payload) {}

        @KafkaListener(
                id = "marked",
                topics = "marked${suffix}",
                groupId = "marked${suffix}",
                properties = "isolation.level=read_committed")
        @IdempotentListener(consumer = "marked")
        void marked(String payload) {}

        @KafkaListener(
                id = "misused",
                topics = "misused${suffix}",
                groupId = "misused${suffix}",
                containerFactory = "misusing")
        @IdempotentListener(consumer = "misused")
        void misused(String payload, Consumer<?, ?> consumer, Acknowledgment acknowledgment) {
            consumer.commitSync();
            work("misused", payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(id = "reborn", topics = "reborn${suffix}", groupId = "reborn${suffix}")
        @IdempotentListener(consumer = "reborn")
        void reborn(String payload) {
            work("reborn", payload);
        }

        @KafkaListener(topics = "careless${suffix}", groupId = "careless${suffix}", containerFactory = "dropping")
        @IdempotentListener(consumer = "careless")
        void careless(String payload) {
            work("careless", payload);
        }

        @KafkaListener(
                groupId = "pinned${suffix}",
                topicPartitions =
                        @org.springframework.kafka.annotation.TopicPartition(
                                topic = "pinned${suffix}",
                                partitions = "0"))
        @IdempotentListener(consumer = "pinned")
        void pinned(String payload) {}

        @KafkaListener(
                groupId = "pinned${suffix}",
                topicPartitions =
                        @org.springframework.kafka.annotation.TopicPartition(
                                topic = "pinned${suffix}",
                                partitions = "1"))
        @IdempotentListener(consumer = "pinned-too")
        void pinnedToo(String payload) {}

        @KafkaListener(
                topics = {"several${suffix}", "several-more${suffix}"},
                groupId = "several${suffix}")
        @IdempotentListener(consumer = "several")
        void several(String payload) {}

        @KafkaListener(topicPattern = "named-.${suffix}", groupId = "named${suffix}")
        @IdempotentListener(consumer = "named")
        void named(String payload) {}

        @KafkaListener(topicPattern = "many-[0-9]+${suffix}", groupId = "many${suffix}")
        @IdempotentListener(consumer = "many")
        void many(String payload) {
            work("many", payload);
        }

        @KafkaListener(id = "twice", topics = "twice${suffix}", groupId = "twice${suffix}")
        @KafkaListener(id = "again", topics = "twice${suffix}", groupId = "twice${suffix}")
        @IdempotentListener(consumer = "twice")
        void twice(String payload) {}

        /** Stops the reconciliation alone. */
        @Bean
        static RecordFilterStrategy<Object, Object> gate() {
            return record -> {
                if (String.valueOf(record.value()).startsWith("apart gate")
                        && Thread.currentThread().getName().startsWith("idempotency-reconciliation")) {
                    STOPPED.add(record.partition());
                    awaitOpen();
                }
                return false;
            };
        }

        private static void awaitOpen() {
            try {
                OPEN.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }

        @KafkaListener(
                groupId = "apart${suffix}",
                filter = "gate",
                topicPartitions =
                        @org.springframework.kafka.annotation.TopicPartition(
                                topic = "apart${suffix}",
                                partitions = "0"))
        @KafkaListener(
                groupId = "apart${suffix}",
                filter = "gate",
                topicPartitions =
                        @org.springframework.kafka.annotation.TopicPartition(
                                topic = "apart${suffix}",
                                partitions = "1"))
        @IdempotentListener(consumer = "apart", key = "#record.partition() + '@' + #record.offset()")
        void apart(String payload) {
            work("apart", payload.substring(0, 11));
        }

        @KafkaListener(topics = "unused${suffix}", groupId = "unused${suffix}", autoStartup = "false")
        @IdempotentListener(consumer = "unused")
        void unused(String payload) {}

        @KafkaListener(topics = "emptied${suffix}", groupId = "emptied${suffix}")
        @IdempotentListener(consumer = "emptied")
        void emptied(@Payload(required = false) String payload) {
            this.effects.happen("emptied " + payload);
        }

        @KafkaListener(
                id = "breaking",
                topics = "breaking${suffix}",
                groupId = "breaking${suffix}",
                properties = "value.deserializer=dev.idempotency.reconciliation.UnusualTopicsIT$BreakingDeserializer")
        @IdempotentListener(consumer = "breaking")
        void breaking(String payload) {}

        @Bean
        static Function<ConsumerRecord<?, ?>, String> keys() {
            return record -> {
                if (AWAY.get()) {
                    throw new CannotGetJdbcConnectionException("There is none");
                }
                return String.valueOf(record.value());
            };
        }

        @KafkaListener(topics = "asking${suffix}", groupId = "asking${suffix}")
        @IdempotentListener(consumer = "asking", key = "@keys.apply(#record)")
        void asking(String payload) {}

        @KafkaListener(topics = "positions${suffix}", groupId = "positions${suffix}")
        @IdempotentListener(consumer = "positions", strategy = Strategy.OFFSET)
        void positions(String payload) {}
    }
}
