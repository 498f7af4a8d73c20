package dev.idempotency.internal.reconciliation;

import static dev.idempotency.app.Operators.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.Operators;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.job.RepublishedHeaders;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationReport.MissingMessage;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractMap.SimpleEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
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
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.backoff.FixedBackOff;

/** Creates gaps, and verifies that a reconciliation finds exactly these. */
class ReconciliationIT extends SharedApplicationTest {

    private Operators operators;

    @BeforeAll
    void start() {
        createTopics(2, "busy", "begun", "pinned");
        createTopics(1, "ledger", "dropped", "intercepted", "intercepted-batch", "arguments", "converted", "twice");
        createTopics(1, "batch", "handlers", "retried", "kept", "aged", "marked", "recreated", "asking");
        createTopics(1, "interrupted", "redriven", "named-a", "named-b", "breaking", "positions");
        TestKafka.createTopics(1, topic("ledger") + "-dlt", topic("redriven") + "-dlt", topic("recreated") + "-dlt");
        start(Listeners.class, "idempotency.errors.max-attempts=1", "idempotency.reconciliation.records-per-second=50");
        this.operators = Operators.of(this.app);
    }

    @Test
    void everyRecordOfTheGroupIsAccountedForAndARowThatIsGoneIsFoundAndReplayed() {
        send("ledger", "ledger a", "ledger b", "ledger fails", "ledger c");
        this.app.send(topic("ledger"), "ledger a", "ledger a again");
        this.app.send(topic("ledger"), null, "ledger without key");
        awaitCaughtUp("ledger");
        ReconciliationReport sound = reconcile("ledger");
        assertFates(sound, "3 PROCESSED, 1 DUPLICATE, 2 DEAD_LETTERED");
        assertThat(sound.state()).isEqualTo(JobState.COMPLETED);
        assertThat(sound.share()).isEqualTo(1.0);

        forgetRow("ledger", "ledger b");
        ReconciliationReport report = reconcile("ledger");
        assertFates(report, "2 PROCESSED, 1 DUPLICATE, 2 DEAD_LETTERED, 1 MISSING");
        assertMissing(report, "ledger b", 1);
        assertThat(report.replayed()).isZero();

        assertThat(replay("ledger").replayed()).isOne();
        assertEffects("ledger", "ledger a", "ledger b", "ledger b", "ledger c");
        assertThat(reconcile("ledger").count(ReconciliationOutcome.MISSING)).isZero();
    }

    @Test
    void whatAnErrorHandlerDropsIsMissing() {
        send("dropped", "dropped a", "dropped fails", "garbled dropped", "dropped b");
        awaitCaughtUp("dropped");
        assertFates(reconcile("dropped"), "2 PROCESSED, 1 MISSING, 1 UNREADABLE");
    }

    /** Rows and dead letters of the old topic do not account for records of the new one at the same coordinates. */
    @Test
    void aTopicThatWasDeletedAndCreatedAgainIsAnotherOneEvenWhereKeysAreMadeOfCoordinates() {
        sendWithoutIds("recreated", "recreated old", "recreated fails");
        assertFates(reconcile("recreated"), "1 PROCESSED, 1 DEAD_LETTERED");
        containerOf("recreated").stop();
        recreateTopic("recreated");
        this.app.send(topic("recreated"), null, "recreated new");
        this.app.send(topic("recreated"), null, "recreated newer");
        commitAll("recreated");
        assertFates(reconcile("recreated"), "2 MISSING");
        assertThat(replay("recreated").replayed()).isEqualTo(2);
        containerOf("recreated").start();
        assertEffects("recreated", "recreated new", "recreated newer", "recreated old");
        assertThat(reconcile("recreated").count(ReconciliationOutcome.MISSING)).isZero();
    }

    private void sendWithoutIds(String kind, String... payloads) {
        for (String payload : payloads) {
            this.app.send(topic(kind), null, payload);
        }
        awaitCaughtUp(kind);
    }

    /** Such records may have been processed before the application used the library. */
    @Test
    void recordsBeforeTheFirstRememberedOneAreNotJudged() {
        containerOf("begun").stop();
        for (int i = 0; i < 3; i++) {
            sendTo("begun", 0, "begun before " + i);
        }
        sendTo("begun", 1, "begun before");
        commitAll("begun");
        containerOf("begun").start();
        sendTo("begun", 0, "begun first");
        awaitCaughtUp("begun");
        ProducerRecord<String, String> copy = message("begun", "begun copy");
        RepublishedHeaders.of(List.of(), new RecordCoordinates(topic("begun"), 0, 0), name -> false)
                .forEach(copy.headers()::add);
        this.app.send(copy);
        awaitCaughtUp("begun");
        containerOf("begun").stop();
        sendTo("begun", 0, "begun lost");
        commitAll("begun");
        ReconciliationReport report = replay("begun");
        assertMissing(report, "begun lost", 5);
        assertFates(report, "4 NOT_JUDGED, 1 PROCESSED, 1 DUPLICATE, 1 MISSING");
        assertThat(report.judgedFrom())
                .containsExactly(Map.entry(topic("begun") + "-0", 3L), new SimpleEntry<>(topic("begun") + "-1", null));
        assertThat(report.replayed()).isOne();
    }

    /** While the library was switched off, lost and processed records look the same. */
    @Test
    void recordsAreReplayedOnlyFromTheNamedTimeOn() {
        Instant enabled = Instant.now().minusSeconds(60);
        send("interrupted", "interrupted first");
        awaitCaughtUp("interrupted");
        containerOf("interrupted").stop();
        sendAt(enabled.minusMillis(1), "interrupted", "interrupted while disabled");
        sendAt(enabled, "interrupted", "interrupted lost");
        commitAll("interrupted");
        assertFates(reconcile("interrupted"), "1 PROCESSED, 2 MISSING");
        ReconciliationRequest sinceThen = new ReconciliationRequest("interrupted", Duration.ofDays(1), enabled);
        assertThat(this.operators.reconcile(sinceThen).replayed()).isOne();
        containerOf("interrupted").start();
        assertEffects("interrupted", "interrupted first", "interrupted lost");
    }

    @Test
    void whatAnInterceptorMayHaveSkippedIsNotReplayed() {
        send("intercepted", "intercepted a", "intercepted is skipped");
        awaitCaughtUp("intercepted");
        assertFates(reconcile("intercepted"), "1 PROCESSED, 1 MISSING");
        for (String consumer : List.of("intercepted", "intercepted-batch")) {
            assertRefused(() -> replay(consumer), "'" + consumer + "'", "RecordInterceptor", "without replayFrom");
        }
    }

    @Test
    void aReadThatEndsWithTheMarksOfTransactionsComesToItsEnd() {
        send("marked", "marked first");
        awaitCaughtUp("marked");
        containerOf("marked").stop();
        Map<String, Object> settings =
                Map.of("bootstrap.servers", TestKafka.bootstrapServers(), "transactional.id", topic("marked"));
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(message("marked", "marked committed"));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(message("marked", "marked rolled back"));
            producer.flush();
            producer.abortTransaction();
            // The broker responds before it has written the marker.
            Awaitility.await()
                    .until(() -> TestApplication.endOffsets(topic("marked")).equals(Map.of(0, 5L)));
            commitAll("marked");
            ReconciliationReport report = reconcile("marked");
            assertFates(report, "1 PROCESSED, 1 MISSING");
            assertThat(report.records()).isEqualTo(5);
            assertThat(report.share()).isEqualTo(1.0);
        }
    }

    @Test
    void allTopicsAndOwnPartitionsOfAListenerAreLookedAtOnce() {
        sendTo("pinned", 0, "pinned a");
        sendTo("pinned", 1, "pinned b");
        awaitCaughtUp("pinned");
        assertFates(reconcile("pinned"), "1 PROCESSED");
        send("named-a", "named a");
        send("named-b", "named b");
        this.app.awaitCaughtUp(topic("named"), topic("named-a"));
        this.app.awaitCaughtUp(topic("named"), topic("named-b"));
        assertFates(reconcile("named"), "2 PROCESSED");
        send("twice", "twice a", "twice b");
        this.app.send(topic("twice"), "tombstone", null);
        awaitCaughtUp("twice");
        assertFates(reconcile("twice"), "3 PROCESSED");
        forgetRow("twice", "twice b");
        assertThat(replay("twice").replayed()).isOne();
    }

    @Test
    void whateverIsThrownEndsItAsFailed() {
        containerOf("breaking").stop();
        send("breaking", "breaking");
        commitAll("breaking");
        ReconciliationReport broken = reconcile("breaking");
        assertThat(broken.state()).isEqualTo(JobState.FAILED);
        assertThat(broken.failure()).contains("NoClassDefFoundError");
        send("asking", "asking a");
        awaitCaughtUp("asking");
        Listeners.AWAY.set(true);
        ReconciliationReport away = reconcile("asking");
        Listeners.AWAY.set(false);
        assertThat(away.state()).isEqualTo(JobState.FAILED);
        assertThat(away.count(ReconciliationOutcome.WITHOUT_KEY)).isZero();
        assertFates(reconcile("asking"), "1 PROCESSED");
    }

    private void commitAll(String kind) {
        TestApplication.commitAll(topic(kind), topic(kind));
    }

    @Test
    void theListenersOwnFilterAndKeyAreUsed() {
        sendWithoutIds("batch", "batch a", "batch left out", "batch b");
        send("handlers", "handlers a", "handlers b");
        awaitCaughtUp("handlers");
        assertFates(reconcile("batch"), "2 PROCESSED, 1 FILTERED");
        forgetRow("handlers", "handlers b");
        ReconciliationReport report = reconcile("handlers");
        assertFates(report, "1 PROCESSED, 1 MISSING");
        assertMissing(report, "handlers b", 1);
        assertThat(effectsOf("handlers")).hasSize(2);
    }

    @Test
    void aKeyThatOnlyADeliveryHasIsRefusedWithTheReason() {
        assertRefused(() -> reconcile("nobody"), "busy");
        assertRefused(() -> reconcile("arguments"), "'arguments'", "[partition]", "#payload");
        assertRefused(() -> reconcile("positions"), "'positions'", "DeduplicationStrategy.MESSAGE_ID");
        sendWithoutIds("converted", "42");
        ReconciliationReport report = reconcile("converted");
        assertThat(report.state()).isEqualTo(JobState.FAILED);
        assertThat(report.failure()).contains("java.lang.String", "java.lang.Integer", "keys from headers");
    }

    @Test
    void retryTopicsAreFollowed() {
        send("retried", "retried later", "retried never", "retried a");
        awaitCaughtUp("retried");
        Awaitility.await()
                .untilAsserted(() -> assertFates(reconcile("retried"), "1 PROCESSED, 1 RETRYING, 1 DEAD_LETTERED"));
    }

    @Test
    void aDeadLetterThatWasSentBackDoesNotStandForTheCopyThatWasLostThen() {
        send("redriven", "redriven first", "redriven fails");
        awaitCaughtUp("redriven");
        containerOf("redriven").stop();
        this.operators.redriveAll("redriven");
        commitAll("redriven");
        ReconciliationReport report = reconcile("redriven");
        assertFates(report, "1 PROCESSED, 1 DEAD_LETTERED, 1 MISSING");
        assertMissing(report, "redriven fails", 2);
        replay("redriven");
        containerOf("redriven").start();
        awaitCaughtUp("redriven");
        assertFates(reconcile("redriven"), "1 PROCESSED, 3 DEAD_LETTERED");
        Listeners.MENDED.add("redriven");
        this.operators.redriveAll("redriven");
        Awaitility.await().until(() -> effectsOf("redriven").equals(List.of("redriven fails", "redriven first")));
        awaitCaughtUp("redriven");
        assertFates(reconcile("redriven"), "2 PROCESSED, 3 DUPLICATE");
    }

    @Test
    void whatHasFailedInTheInboxIsNotMissingAndWhatItHasProcessedIsProcessed() {
        send("kept", "kept a", "kept fails");
        awaitCaughtUp("kept");
        forgetRow("kept", "kept a");
        assertFates(reconcile("kept"), "1 PROCESSED, 1 FAILED");
    }

    @Test
    void whatNeedNotBeRememberedIsNotMissed() {
        Instant now = Instant.now();
        sendAt(now.minus(Duration.ofHours(2)), "aged", "aged first");
        sendAt(now.minus(Duration.ofHours(2)), "aged", "aged long ago");
        sendAt(now, "aged", "aged a");
        awaitCaughtUp("aged");
        forgetRow("aged", "aged long ago");
        forgetRow("aged", "aged a");
        assertFates(reconcileSince("aged", Duration.ofHours(3)), "1 PROCESSED, 1 NOT_JUDGED, 1 MISSING");
        assertThat(reconcileSince("aged", Duration.ofMinutes(30)).read()).isOne();
    }

    @Test
    void thereIsOneAtATimeAtALimitedRateAndItCanBeCancelled() {
        for (int i = 0; i < 300; i++) {
            send("busy", "busy " + i);
        }
        awaitCaughtUp("busy");
        Reconciliation reconciliation = this.operators.reconciliation();
        ReconciliationRequest request = ReconciliationRequest.of("busy", Duration.ofDays(1));
        assertThat(reconciliation.start(request).state()).isEqualTo(JobState.RUNNING);
        assertRefused(() -> reconciliation.start(request), "already");
        assertThat(reconciliation.cancel("busy")).isTrue();
        ReconciliationReport report = this.operators.awaitReconciliation("busy");
        assertThat(report.state()).isEqualTo(JobState.CANCELLED);
        assertThat(report.share()).isLessThan(1);
    }

    /** Asserts the number of records by outcome; all other outcomes must have none. */
    private static void assertFates(ReconciliationReport report, String fates) {
        assertThat(report.failure()).isNull();
        assertThat(report.fates().entrySet().stream()
                        .filter(fate -> fate.getValue() > 0)
                        .map(fate -> fate.getValue() + " " + fate.getKey().name()))
                .containsExactlyInAnyOrder(fates.split(", "));
        assertThat(report.read())
                .isEqualTo(report.fates().values().stream()
                        .mapToLong(Long::longValue)
                        .sum());
    }

    private void assertMissing(ReconciliationReport report, String id, long offset) {
        RecordCoordinates record = new RecordCoordinates(topic(id.split(" ")[0]), 0, offset);
        assertThat(report.missing()).containsExactly(new MissingMessage(record, id));
    }

    private void forgetRow(String consumer, String id) {
        String sql = "delete from idempotency_processed where consumer_id = ? and message_id = ?";
        assertThat(this.app.jdbc().update(sql, consumer, id)).isOne();
    }

    private void sendAt(Instant at, String kind, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(
                topic(kind), 0, at.toEpochMilli(), null, id, message(kind, id).headers());
        this.app.send(record);
    }

    private ProducerRecord<String, String> message(String kind, String id) {
        return TestApplication.message(topic(kind), 0, id, id);
    }

    private ReconciliationReport reconcile(String consumer) {
        return reconcileSince(consumer, Duration.ofDays(1));
    }

    private ReconciliationReport reconcileSince(String consumer, Duration time) {
        return this.operators.reconcile(ReconciliationRequest.of(consumer, time));
    }

    private ReconciliationReport replay(String consumer) {
        return this.operators.reconcile(new ReconciliationRequest(consumer, Duration.ofDays(1), Instant.EPOCH));
    }

    @Import(Handlers.class)
    static class Listeners extends HasEffects {

        static final Set<String> MENDED = ConcurrentHashMap.newKeySet();
        static final AtomicBoolean AWAY = new AtomicBoolean();

        private void work(String payload) {
            this.effects.happen(payload);
            if (payload.contains("fails") && !MENDED.contains(payload.split(" ")[0])) {
                throw new IllegalStateException("on purpose");
            }
        }

        @Bean
        static ContainerFactory dropping(ContainerFactory plain) {
            return plain.with(factory ->
                    factory.setCommonErrorHandler(new DefaultErrorHandler((record, ex) -> {}, new FixedBackOff(0, 0))));
        }

        @Bean
        static ContainerFactory intercepting(ContainerFactory plain) {
            return plain.with(factory -> factory.setRecordInterceptor(
                    (record, consumer) -> String.valueOf(record.value()).contains("is skipped") ? null : record));
        }

        @Bean
        static ContainerFactory interceptingBatches(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchInterceptor((records, consumer) -> records));
        }

        @OfKind(value = "intercepted", containerFactory = "intercepting")
        void intercepted(String payload) {}

        @OfKind(value = "intercepted-batch", batch = "true", containerFactory = "interceptingBatches")
        void interceptedBatch(List<String> payloads) {}

        @OfKind("begun")
        void begun(String payload) {
            work(payload);
        }

        @OfKind("interrupted")
        void interrupted(String payload) {
            work(payload);
        }

        @Bean
        static RecordFilterStrategy<Object, Object> leavingOut() {
            return record -> String.valueOf(record.value()).contains("left out");
        }

        @OfKind("ledger")
        void ledger(String payload) {
            work(payload);
        }

        @OfKind(
                value = "dropped",
                containerFactory = "dropping",
                properties = "value.deserializer=dev.idempotency.internal.failure.PickyDeserializer")
        void dropped(String payload) {
            work(payload);
        }

        @OfKind(value = "batch", batch = "true", filter = "leavingOut", key = "#payload.trim() + #payloads.length()")
        void batch(List<String> payloads) {}

        @OfKind(value = "arguments", key = "#payload + ' ' + #partition")
        void arguments(String payload, @Header(KafkaHeaders.RECEIVED_PARTITION) int partition) {}

        @OfKind(value = "converted", key = "#number")
        void converted(Integer number) {}

        @OfKind(value = "recreated", key = "#coordinates")
        void recreated(String payload) {
            work(payload);
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 3_600_000))
        @OfKind("retried")
        void retried(String payload) {
            if (payload.contains("never")) {
                throw new ClassCastException("is not retried");
            }
            if (payload.contains("later")) {
                throw new IllegalStateException("is retried in an hour");
            }
        }

        @OfKind("redriven")
        void redriven(String payload) {
            work(payload);
        }

        @OfKind(value = "marked", properties = "isolation.level=read_committed")
        void marked(String payload) {}

        @KafkaListener(
                groupId = "pinned${suffix}",
                topicPartitions = @TopicPartition(topic = "pinned${suffix}", partitions = "0"))
        @IdempotentListener(consumer = "pinned")
        void pinned(String payload) {}

        @KafkaListener(
                groupId = "pinned${suffix}",
                topicPartitions = @TopicPartition(topic = "pinned${suffix}", partitions = "1"))
        @IdempotentListener(consumer = "pinned-too")
        void pinnedToo(String payload) {}

        @KafkaListener(topicPattern = "named-.${suffix}", groupId = "named${suffix}")
        @IdempotentListener(consumer = "named")
        void named(String payload) {}

        @KafkaListener(id = "twice", topics = "twice${suffix}", groupId = "twice${suffix}")
        @KafkaListener(id = "again", topics = "twice${suffix}", groupId = "twice${suffix}")
        @IdempotentListener(consumer = "twice")
        void twice(@Payload(required = false) String payload) {}

        @OfKind(
                value = "breaking",
                properties =
                        "value.deserializer=dev.idempotency.internal.reconciliation.ReconciliationIT$BreakingDeserializer")
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

        @OfKind(value = "asking", key = "@keys.apply(#record)")
        void asking(String payload) {}

        @OfKind(value = "positions", strategy = DeduplicationStrategy.OFFSET)
        void positions(String payload) {}

        @OfKind(value = "kept", containerFactory = "dropping", inbox = "true")
        void kept(String payload) {
            work(payload);
        }

        @OfKind(value = "aged", retention = "1h")
        void aged(String payload) {}

        @OfKind(value = "busy", batch = "true")
        void busy(List<String> payloads) {}
    }

    /** Fails as after the update of a library. */
    public static final class BreakingDeserializer implements Deserializer<String> {

        @Override
        public String deserialize(String topic, byte[] data) {
            throw new NoClassDefFoundError("some/Library");
        }
    }

    @KafkaListener(topics = "handlers${suffix}", groupId = "handlers${suffix}")
    static class Handlers extends HasEffects {

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
