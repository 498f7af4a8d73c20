package dev.idempotency.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.job.RepublishedHeaders;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractMap.SimpleEntry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.backoff.FixedBackOff;

/** Holes are made, and must be found: no more and no less. */
class ReconciliationIT extends SharedApplicationTest {

    private Reconciliation reconciliation;

    @BeforeAll
    void start() {
        createTopics(2, "busy", "begun", "pinned");
        createTopics(1, "ledger", "dropped", "intercepted", "intercepted-batch", "arguments", "converted", "twice");
        createTopics(1, "batch", "handlers", "retried", "kept", "aged", "marked", "recreated", "reborn");
        createTopics(1, "observed", "interrupted", "redriven", "named-a", "named-b", "breaking", "positions", "asking");
        TestKafka.createTopics(1, topic("ledger") + "-dlt", topic("redriven") + "-dlt", topic("reborn") + "-dlt");
        start(
                Listeners.class,
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=1",
                "idempotency.reconciliation.records-per-second=50");
        this.reconciliation = this.app.bean(Reconciliation.class);
    }

    @Test
    void everyRecordOfTheGroupIsAccountedForAndARowThatIsGoneIsFoundAndReplayed() {
        send("ledger", "ledger a", "ledger b", "ledger fails", "ledger c");
        this.app.send(topic("ledger"), "ledger a", "ledger a again");
        this.app.send(topic("ledger"), null, "ledger without key");
        awaitCaughtUp("ledger");
        ReconciliationReport sound = reconcile("ledger");
        assertFates(
                sound,
                Map.of(
                        ReconciliationOutcome.PROCESSED,
                        3L,
                        ReconciliationOutcome.DUPLICATE,
                        1L,
                        ReconciliationOutcome.DEAD_LETTERED,
                        2L));
        assertThat(sound.state()).isEqualTo(State.COMPLETED);
        assertThat(sound.share()).isEqualTo(1.0);

        forgetRow("ledger", "ledger b");
        ReconciliationReport report = reconcile("ledger");
        assertThat(report.count(ReconciliationOutcome.MISSING)).isOne();
        assertThat(report.missing()).extracting(MissingMessage::messageId).containsExactly("ledger b");
        assertThat(report.missing().get(0).record().topic()).isEqualTo(topic("ledger"));
        assertThat(report.replayed()).isZero();

        assertThat(replay("ledger").replayed()).isOne();
        awaitCaughtUp("ledger");
        assertThat(effectsOf("ledger")).containsExactly("ledger a", "ledger b", "ledger b", "ledger c");
        assertThat(reconcile("ledger").count(ReconciliationOutcome.MISSING)).isZero();
    }

    @Test
    void whatAnErrorHandlerDropsIsMissingUntilItIsReplayed() {
        send("dropped", "dropped a", "dropped fails", "garbled dropped", "dropped b");
        awaitCaughtUp("dropped");
        assertFates(
                reconcile("dropped"),
                Map.of(
                        ReconciliationOutcome.PROCESSED,
                        2L,
                        ReconciliationOutcome.MISSING,
                        1L,
                        ReconciliationOutcome.UNREADABLE,
                        1L));
        Listeners.MENDED.add("dropped");
        assertThat(replay("dropped").replayed()).isOne();
        awaitCaughtUp("dropped");
        assertThat(effectsOf("dropped")).containsExactly("dropped a", "dropped b", "dropped fails");
        assertFates(
                reconcile("dropped"),
                Map.of(
                        ReconciliationOutcome.PROCESSED,
                        3L,
                        ReconciliationOutcome.DUPLICATE,
                        1L,
                        ReconciliationOutcome.UNREADABLE,
                        1L));
    }

    @Test
    void aTopicThatWasDeletedAndCreatedAgainIsAnotherOneEvenWhereKeysAreMadeOfCoordinates() {
        this.app.send(topic("recreated"), null, "recreated old");
        awaitCaughtUp("recreated");
        MessageListenerContainer container = container("recreated");
        container.stop();
        recreateTopic("recreated");
        this.app.send(topic("recreated"), null, "recreated new");
        commitAll("recreated");
        assertFates(reconcile("recreated"), Map.of(ReconciliationOutcome.MISSING, 1L));
        assertThat(replay("recreated").replayed()).isOne();
        container.start();
        awaitCaughtUp("recreated");
        assertThat(effectsOf("recreated")).containsExactly("recreated new", "recreated old");
        assertThat(reconcile("recreated").count(ReconciliationOutcome.MISSING)).isZero();
    }

    /** As if the application had processed them before it had the library. */
    @Test
    void recordsBeforeTheFirstRememberedOneAreNotJudged() {
        MessageListenerContainer container = container("begun");
        container.stop();
        for (int i = 0; i < 3; i++) {
            sendTo("begun", 0, "begun before " + i, null);
        }
        sendTo("begun", 1, "begun before", null);
        commitAll("begun");
        container.start();
        sendTo("begun", 0, "begun first", null);
        awaitCaughtUp("begun");
        this.app.send(copy("begun", "begun copy", 0));
        awaitCaughtUp("begun");
        container.stop();
        sendTo("begun", 0, "begun lost", null);
        commitAll("begun");
        ReconciliationReport report = replay("begun");
        assertThat(report.missing()).extracting(MissingMessage::messageId).containsExactly("begun lost");
        assertFates(
                report,
                Map.of(
                        ReconciliationOutcome.NOT_JUDGED, 4L,
                        ReconciliationOutcome.PROCESSED, 1L,
                        ReconciliationOutcome.DUPLICATE, 1L,
                        ReconciliationOutcome.MISSING, 1L));
        assertThat(report.judgedFrom())
                .containsExactly(Map.entry(topic("begun") + "-0", 3L), new SimpleEntry<>(topic("begun") + "-1", null));
        assertThat(report.replayed()).isOne();
    }

    /** As if the library had been switched off for a while: what was lost and what was processed meanwhile look alike. */
    @Test
    void recordsAreReplayedOnlyFromTheNamedTimeOn() {
        Instant enabled = Instant.now().minusSeconds(60);
        send("interrupted", "interrupted first");
        awaitCaughtUp("interrupted");
        MessageListenerContainer container = container("interrupted");
        container.stop();
        sendTo("interrupted", 0, "interrupted while disabled", enabled.minusMillis(1));
        sendTo("interrupted", 0, "interrupted lost", enabled);
        commitAll("interrupted");
        ReconciliationReport looked = reconcile("interrupted");
        assertFates(looked, Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.MISSING, 2L));
        assertThat(looked.replayed()).isZero();
        assertThat(reconcile(new ReconciliationRequest("interrupted", Duration.ofDays(1), enabled))
                        .replayed())
                .isOne();
        container.start();
        awaitCaughtUp("interrupted");
        assertThat(effectsOf("interrupted")).containsExactly("interrupted first", "interrupted lost");
    }

    /** A record that says that it stood elsewhere before, as one that was retried or redriven. */
    private ProducerRecord<String, String> copy(String kind, String id, long offset) {
        ProducerRecord<String, String> copy = record(kind, 0, id, null);
        RepublishedHeaders.of(List.of(), new RecordCoordinates(topic(kind), 0, offset))
                .forEach(copy.headers()::add);
        return copy;
    }

    @Test
    void whatAnInterceptorMayHaveSkippedIsNotReplayed() {
        send("intercepted", "intercepted a", "intercepted is skipped");
        awaitCaughtUp("intercepted");
        assertFates(
                reconcile("intercepted"),
                Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.MISSING, 1L));
        for (String consumer : List.of("intercepted", "intercepted-batch")) {
            assertThatExceptionOfType(OperatorActionException.class)
                    .isThrownBy(() -> replay(consumer))
                    .withMessageContainingAll("'" + consumer + "'", "RecordInterceptor", "without replayFrom");
        }
        assertThat(replay("observed").failure()).isNull();
    }

    @Test
    void aReadThatEndsWithTheMarksOfTransactionsComesToItsEnd() {
        send("marked", "marked first");
        awaitCaughtUp("marked");
        container("marked").stop();
        Map<String, Object> settings =
                Map.of("bootstrap.servers", TestKafka.bootstrapServers(), "transactional.id", topic("marked"));
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record("marked", 0, "marked committed", null));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(record("marked", 0, "marked rolled back", null));
            producer.flush();
            producer.abortTransaction();
            // The broker answers before it has written the mark.
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> TestApplication.endOffsets(topic("marked"))
                    .equals(Map.of(0, 5L)));
            commitAll("marked");
            ReconciliationReport report = reconcile("marked");
            assertFates(report, Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.MISSING, 1L));
            assertThat(report.records()).isEqualTo(5);
            assertThat(report.share()).isEqualTo(1.0);
        }
    }

    @Test
    void aDeadLetterOfATopicThatIsGoneDoesNotStandForTheRecordThatIsAtItsPlaceNow() {
        send("reborn", "reborn first", "reborn fails");
        awaitCaughtUp("reborn");
        assertFates(
                reconcile("reborn"),
                Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.DEAD_LETTERED, 1L));
        container("reborn").stop();
        recreateTopic("reborn");
        send("reborn", "reborn new", "reborn newer");
        commitAll("reborn");
        assertFates(reconcile("reborn"), Map.of(ReconciliationOutcome.MISSING, 2L));
    }

    @Test
    void allTopicsAndOwnPartitionsOfAListenerAreLookedAtOnce() {
        sendTo("pinned", 0, "pinned a", null);
        sendTo("pinned", 1, "pinned b", null);
        awaitCaughtUp("pinned");
        assertFates(reconcile("pinned"), Map.of(ReconciliationOutcome.PROCESSED, 1L));
        send("named-a", "named a");
        send("named-b", "named b");
        this.app.awaitCaughtUp(topic("named"), topic("named-a"));
        this.app.awaitCaughtUp(topic("named"), topic("named-b"));
        assertFates(reconcile("named"), Map.of(ReconciliationOutcome.PROCESSED, 2L));
        send("twice", "twice a", "twice b");
        this.app.send(topic("twice"), "tombstone", null);
        awaitCaughtUp("twice");
        assertFates(reconcile("twice"), Map.of(ReconciliationOutcome.PROCESSED, 3L));
        forgetRow("twice", "twice b");
        assertThat(replay("twice").replayed()).isOne();
    }

    @Test
    void whateverIsThrownEndsItAsFailed() {
        container("breaking").stop();
        send("breaking", "breaking");
        commitAll("breaking");
        ReconciliationReport broken = reconcile("breaking");
        assertThat(broken.state()).isEqualTo(State.FAILED);
        assertThat(broken.failure()).contains("NoClassDefFoundError");
        send("asking", "asking a");
        awaitCaughtUp("asking");
        Listeners.AWAY.set(true);
        ReconciliationReport away = reconcile("asking");
        Listeners.AWAY.set(false);
        assertThat(away.state()).isEqualTo(State.FAILED);
        assertThat(away.count(ReconciliationOutcome.WITHOUT_KEY)).isZero();
        assertFates(reconcile("asking"), Map.of(ReconciliationOutcome.PROCESSED, 1L));
    }

    private MessageListenerContainer container(String id) {
        return Objects.requireNonNull(
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(id));
    }

    private void commitAll(String kind) {
        TestApplication.commitAll(topic(kind), topic(kind));
    }

    @Test
    void theListenersOwnFilterAndKeyAreUsed() {
        for (String payload : List.of("batch a", "batch left out", "batch b")) {
            this.app.send(topic("batch"), null, payload);
        }
        send("handlers", "handlers a", "handlers b");
        awaitCaughtUp("batch");
        awaitCaughtUp("handlers");
        assertFates(
                reconcile("batch"), Map.of(ReconciliationOutcome.PROCESSED, 2L, ReconciliationOutcome.FILTERED, 1L));
        forgetRow("handlers", "handlers b");
        ReconciliationReport report = reconcile("handlers");
        assertFates(report, Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.MISSING, 1L));
        assertThat(report.missing())
                .containsExactly(new MissingMessage(new RecordCoordinates(topic("handlers"), 0, 1), "handlers b"));
        assertThat(effectsOf("handlers")).hasSize(2);
    }

    @Test
    void aKeyThatOnlyADeliveryHasIsRefusedWithTheReason() {
        assertThatExceptionOfType(OperatorActionException.class)
                .isThrownBy(() -> reconcile("arguments"))
                .withMessageContainingAll("'arguments'", "[partition]", "#payload");
        assertThatExceptionOfType(OperatorActionException.class)
                .isThrownBy(() -> reconcile("positions"))
                .withMessageContainingAll("'positions'", "DeduplicationStrategy.MESSAGE_ID");
        this.app.send(topic("converted"), null, "42");
        awaitCaughtUp("converted");
        ReconciliationReport report = reconcile("converted");
        assertThat(report.state()).isEqualTo(State.FAILED);
        assertThat(report.failure()).contains("java.lang.String", "java.lang.Integer", "keys from headers");
    }

    @Test
    void retryTopicsAreFollowed() {
        send("retried", "retried later", "retried never", "retried a");
        awaitCaughtUp("retried");
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertFates(
                        reconcile("retried"),
                        Map.of(
                                ReconciliationOutcome.PROCESSED,
                                1L,
                                ReconciliationOutcome.RETRYING,
                                1L,
                                ReconciliationOutcome.DEAD_LETTERED,
                                1L)));
    }

    @Test
    void aDeadLetterThatWasSentBackDoesNotStandForTheCopyThatWasLostThen() {
        send("redriven", "redriven first", "redriven fails");
        awaitCaughtUp("redriven");
        MessageListenerContainer container = container("redriven");
        container.stop();
        DeadLetters deadLetters = this.app.bean(DeadLetters.class);
        deadLetters.redriveAll("redriven");
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> deadLetters.lastRedrive("redriven").endedAt() != null);
        commitAll("redriven");
        ReconciliationReport report = reconcile("redriven");
        assertFates(
                report,
                Map.of(
                        ReconciliationOutcome.PROCESSED,
                        1L,
                        ReconciliationOutcome.DEAD_LETTERED,
                        1L,
                        ReconciliationOutcome.MISSING,
                        1L));
        assertThat(report.missing().get(0).record().offset()).isEqualTo(2);
        replay("redriven");
        container.start();
        awaitCaughtUp("redriven");
        assertFates(
                reconcile("redriven"),
                Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.DEAD_LETTERED, 3L));
        Listeners.MENDED.add("redriven");
        deadLetters.redriveAll("redriven");
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> effectsOf("redriven")
                .equals(List.of("redriven fails", "redriven first")));
        awaitCaughtUp("redriven");
        assertFates(
                reconcile("redriven"),
                Map.of(ReconciliationOutcome.PROCESSED, 2L, ReconciliationOutcome.DUPLICATE, 3L));
    }

    @Test
    void whatHasFailedInTheInboxIsNotMissingAndWhatItHasProcessedIsProcessed() {
        send("kept", "kept a", "kept fails");
        awaitCaughtUp("kept");
        forgetRow("kept", "kept a");
        assertFates(reconcile("kept"), Map.of(ReconciliationOutcome.PROCESSED, 1L, ReconciliationOutcome.FAILED, 1L));
    }

    @Test
    void whatNeedNotBeRememberedIsNotMissed() {
        Instant now = Instant.now();
        sendTo("aged", 0, "aged first", now.minus(Duration.ofHours(2)));
        sendTo("aged", 0, "aged long ago", now.minus(Duration.ofHours(2)));
        sendTo("aged", 0, "aged a", now);
        awaitCaughtUp("aged");
        forgetRow("aged", "aged long ago");
        forgetRow("aged", "aged a");
        assertFates(
                reconcile(ReconciliationRequest.of("aged", Duration.ofHours(3))),
                Map.of(
                        ReconciliationOutcome.PROCESSED,
                        1L,
                        ReconciliationOutcome.NOT_JUDGED,
                        1L,
                        ReconciliationOutcome.MISSING,
                        1L));
        assertThat(reconcile(ReconciliationRequest.of("aged", Duration.ofMinutes(30)))
                        .read())
                .isOne();
    }

    @Test
    void thereIsOneAtATimeAtALimitedRateAndItCanBeCancelled() {
        for (int i = 0; i < 300; i++) {
            send("busy", "busy " + i);
        }
        awaitCaughtUp("busy");
        ReconciliationReport started = this.reconciliation.start(ReconciliationRequest.of("busy", Duration.ofDays(1)));
        assertThat(started.state()).isEqualTo(State.RUNNING);
        assertThatExceptionOfType(OperatorActionException.class)
                .isThrownBy(() -> this.reconciliation.start(ReconciliationRequest.of("busy", Duration.ofDays(1))))
                .withMessageContaining("already");
        assertThat(this.reconciliation.cancel("busy")).isTrue();
        ReconciliationReport report = awaitEnd("busy");
        assertThat(report.startedAt()).isEqualTo(started.startedAt());
        assertThat(report.state()).isEqualTo(State.CANCELLED);
        assertThat(report.share()).isLessThan(1);
        assertThatExceptionOfType(OperatorActionException.class)
                .isThrownBy(() -> this.reconciliation.start(ReconciliationRequest.of("nobody", Duration.ofDays(1))))
                .withMessageContaining("busy");
    }

    private static void assertFates(ReconciliationReport report, Map<ReconciliationOutcome, Long> expected) {
        assertThat(report.failure()).isNull();
        Map<ReconciliationOutcome, Long> found = report.fates().entrySet().stream()
                .filter(fate -> fate.getValue() > 0)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        assertThat(found).isEqualTo(expected);
        assertThat(report.read())
                .isEqualTo(expected.values().stream().mapToLong(Long::longValue).sum());
    }

    private void forgetRow(String consumer, String id) {
        assertThat(this.app
                        .jdbc()
                        .update(
                                "delete from idempotency_processed where consumer_id = ? and message_id = ?",
                                consumer,
                                id))
                .isOne();
    }

    private ProducerRecord<String, String> record(String kind, int partition, String id, Instant at) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(topic(kind), partition, (at != null) ? at.toEpochMilli() : null, null, id);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private void sendTo(String kind, int partition, String id, Instant at) {
        this.app.send(record(kind, partition, id, at));
    }

    private ReconciliationReport reconcile(String consumer) {
        return reconcile(ReconciliationRequest.of(consumer, Duration.ofDays(1)));
    }

    private ReconciliationReport replay(String consumer) {
        return reconcile(new ReconciliationRequest(consumer, Duration.ofDays(1), Instant.EPOCH));
    }

    private ReconciliationReport reconcile(ReconciliationRequest request) {
        this.reconciliation.start(request);
        return awaitEnd(request.consumer());
    }

    private ReconciliationReport awaitEnd(String consumer) {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> this.reconciliation.lastReconciliation(consumer),
                        report -> report != null && report.state() != State.RUNNING);
    }

    @Import({Effects.class, Handlers.class})
    static class Listeners {

        static final Set<String> MENDED = ConcurrentHashMap.newKeySet();
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

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> dropping(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setCommonErrorHandler(new DefaultErrorHandler((record, ex) -> {}, new FixedBackOff(0, 0)));
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> intercepting(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setRecordInterceptor(
                    (record, consumer) -> String.valueOf(record.value()).contains("is skipped") ? null : record);
            return factory;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> interceptingBatches(
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(consumers);
            factory.setBatchListener(true);
            factory.setBatchInterceptor((records, consumer) -> records);
            return factory;
        }

        @KafkaListener(
                topics = "intercepted${suffix}",
                groupId = "intercepted${suffix}",
                containerFactory = "intercepting")
        @IdempotentListener(consumer = "intercepted")
        void intercepted(String payload) {}

        @KafkaListener(
                topics = "intercepted-batch${suffix}",
                groupId = "intercepted-batch${suffix}",
                containerFactory = "interceptingBatches")
        @IdempotentListener(consumer = "intercepted-batch")
        void interceptedBatch(List<String> payloads) {}

        @KafkaListener(id = "begun", topics = "begun${suffix}", groupId = "begun${suffix}")
        @IdempotentListener(consumer = "begun")
        void begun(String payload) {
            work("begun", payload);
        }

        @KafkaListener(id = "interrupted", topics = "interrupted${suffix}", groupId = "interrupted${suffix}")
        @IdempotentListener(consumer = "interrupted")
        void interrupted(String payload) {
            work("interrupted", payload);
        }

        @Bean
        static RecordFilterStrategy<Object, Object> leavingOut() {
            return record -> String.valueOf(record.value()).contains("left out");
        }

        @KafkaListener(topics = "ledger${suffix}", groupId = "ledger${suffix}")
        @IdempotentListener(consumer = "ledger")
        void ledger(String payload) {
            work("ledger", payload);
        }

        @KafkaListener(
                topics = "dropped${suffix}",
                groupId = "dropped${suffix}",
                containerFactory = "dropping",
                properties = "value.deserializer=dev.idempotency.failure.PickyDeserializer")
        @IdempotentListener(consumer = "dropped")
        void dropped(String payload) {
            work("dropped", payload);
        }

        @KafkaListener(topics = "batch${suffix}", groupId = "batch${suffix}", batch = "true", filter = "leavingOut")
        @IdempotentListener(consumer = "batch", key = "#payload.toUpperCase() + #payloads.length()")
        void batch(List<String> payloads) {}

        @KafkaListener(topics = "arguments${suffix}", groupId = "arguments${suffix}")
        @IdempotentListener(consumer = "arguments", key = "#payload + ' ' + #partition")
        void arguments(String payload, @Header(KafkaHeaders.RECEIVED_PARTITION) int partition) {}

        @KafkaListener(topics = "converted${suffix}", groupId = "converted${suffix}")
        @IdempotentListener(consumer = "converted", key = "#number")
        void converted(Integer number) {}

        @KafkaListener(id = "recreated", topics = "recreated${suffix}", groupId = "recreated${suffix}")
        @IdempotentListener(consumer = "recreated", key = "#coordinates")
        void recreated(String payload) {
            work("recreated", payload);
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 3_600_000))
        @KafkaListener(topics = "retried${suffix}", groupId = "retried${suffix}")
        @IdempotentListener(consumer = "retried")
        void retried(String payload) {
            if (payload.contains("never")) {
                throw new ClassCastException("is not retried");
            }
            if (payload.contains("later")) {
                throw new IllegalStateException("is retried in an hour");
            }
        }

        @KafkaListener(id = "redriven", topics = "redriven${suffix}", groupId = "redriven${suffix}")
        @IdempotentListener(consumer = "redriven")
        void redriven(String payload) {
            work("redriven", payload);
        }

        @KafkaListener(
                id = "marked",
                topics = "marked${suffix}",
                groupId = "marked${suffix}",
                properties = "isolation.level=read_committed")
        @IdempotentListener(consumer = "marked")
        void marked(String payload) {}

        @KafkaListener(id = "reborn", topics = "reborn${suffix}", groupId = "reborn${suffix}")
        @IdempotentListener(consumer = "reborn")
        void reborn(String payload) {
            work("reborn", payload);
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

        @KafkaListener(topicPattern = "named-.${suffix}", groupId = "named${suffix}")
        @IdempotentListener(consumer = "named")
        void named(String payload) {}

        @KafkaListener(id = "twice", topics = "twice${suffix}", groupId = "twice${suffix}")
        @KafkaListener(id = "again", topics = "twice${suffix}", groupId = "twice${suffix}")
        @IdempotentListener(consumer = "twice")
        void twice(@Payload(required = false) String payload) {}

        @KafkaListener(
                id = "breaking",
                topics = "breaking${suffix}",
                groupId = "breaking${suffix}",
                properties = "value.deserializer=dev.idempotency.reconciliation.ReconciliationIT$BreakingDeserializer")
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
        @IdempotentListener(consumer = "positions", strategy = DeduplicationStrategy.OFFSET)
        void positions(String payload) {}

        @KafkaListener(topics = "observed${suffix}", groupId = "observed${suffix}")
        @IdempotentListener(consumer = "observed")
        void observed(String payload) {}

        @KafkaListener(topics = "kept${suffix}", groupId = "kept${suffix}", containerFactory = "dropping")
        @IdempotentListener(consumer = "kept", inbox = "true")
        void kept(String payload) {
            work("kept", payload);
        }

        @KafkaListener(topics = "aged${suffix}", groupId = "aged${suffix}")
        @IdempotentListener(consumer = "aged", retention = "1h")
        void aged(String payload) {}

        @KafkaListener(topics = "busy${suffix}", groupId = "busy${suffix}", batch = "true")
        @IdempotentListener(consumer = "busy")
        void busy(List<String> payloads) {}
    }

    /** As after an update of a library. */
    public static final class BreakingDeserializer implements Deserializer<String> {

        @Override
        public String deserialize(String topic, byte[] data) {
            throw new NoClassDefFoundError("some/Library");
        }
    }

    @KafkaListener(topics = "handlers${suffix}", groupId = "handlers${suffix}")
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @KafkaHandler
        @IdempotentListener(consumer = "handlers")
        void text(String payload) {
            this.effects.happen(payload);
        }

        @KafkaHandler
        @IdempotentListener(consumer = "handlers")
        void number(Integer number) {}
    }
}
