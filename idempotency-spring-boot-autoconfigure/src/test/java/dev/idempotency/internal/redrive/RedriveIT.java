package dev.idempotency.internal.redrive;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.job.JobState;
import dev.idempotency.job.Page;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.ExceptionPattern;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.testing.TestKafka;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.stereotype.Component;

class RedriveIT extends SharedApplicationTest {

    private DeadLetters deadLetters;

    @BeforeAll
    void start() throws Exception {
        List<String> dying = List.of("plain", "stubborn", "chosen", "slow", "aged", "positions");
        createTopics(2, dying.toArray(String[]::new));
        createTopics(2, "retried", "healthy", "bystander");
        TestKafka.createTopics(1, topic("odd"), topic("odd") + "-dlt");
        // From the beginning, as brokers answer before they heed a setting that is changed.
        NewTopic limited = new NewTopic(topic("crafted"), 2, (short) 1)
                .configs(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "1500"));
        TestKafka.sharedAdmin().createTopics(List.of(limited)).all().get(30, TimeUnit.SECONDS);
        TestKafka.createTopics(2, topic("crafted") + "-dlt");
        TestKafka.createTopics(
                2, dying.stream().map(kind -> topic(kind) + "-dlt").toArray(String[]::new));
        start(Listeners.class, "idempotency.errors.max-attempts=1", "idempotency.dead-letters.redrives-per-second=5");
        this.deadLetters = this.app.bean(DeadLetters.class);
    }

    @Test
    void deadLettersGoBackToTheirPartitionWithTheirIdAndAreProcessedOnceHoweverOftenTheyAreSent() {
        sendTo("plain", 1, "plain a");
        sendTo("plain", 1, "plain b");
        awaitDeadLetters("plain", 2);
        mend("plain");

        RedriveReport report = redriveAll("plain");
        assertThat(report.state()).isEqualTo(JobState.COMPLETED);
        assertThat(report.sent()).isEqualTo(2);
        awaitCaughtUp("plain");
        assertThat(effectsOf("plain")).containsExactly("plain a", "plain b");
        List<ConsumerRecord<String, String>> all = TopicContents.of(topic("plain"));
        ConsumerRecord<String, String> redriven = all.get(all.size() - 1);
        assertThat(redriven.partition()).isOne();
        assertThat(redriven.key()).isEqualTo("key");
        assertThat(redriven.headers())
                .extracting(Header::key)
                .contains("message-id", "idempotency-redrives")
                .noneMatch(name -> name.startsWith("kafka_dlt") || name.contains("xception"))
                .doesNotContain("idempotency-consumer");
        assertThat(KafkaCoordinates.original(redriven)).isEqualTo(new RecordCoordinates(topic("plain"), 1, 1));

        assertThat(redriveAll("plain").sent()).isZero();
        List<DeadLetter> letters = letters("plain");
        assertThat(letters).extracting(DeadLetter::status).containsOnly(DeadLetterStatus.REDRIVEN);
        assertThat(letters).extracting(DeadLetter::exception).containsOnly(IllegalStateException.class.getName());
        assertThat(this.deadLetters.redrive("plain", letters.get(0).record()).sent())
                .isOne();
        awaitCaughtUp("plain");
        assertThat(effectsOf("plain")).containsExactly("plain a", "plain b");
    }

    @Test
    void whatFailsInEveryRoundIsExhausted() {
        send("stubborn", "stubborn");
        for (int round = 1; round <= 3; round++) {
            awaitDeadLetters("stubborn", round);
            assertThat(redriveAll("stubborn").sent()).isOne();
        }
        awaitDeadLetters("stubborn", 4);
        RedriveReport report = redriveAll("stubborn");
        assertThat(report.sent()).isZero();
        assertThat(report.exhausted()).isOne();
        DeadLetter exhausted = letters("stubborn").get(3);
        assertThat(exhausted.status()).isEqualTo(DeadLetterStatus.EXHAUSTED);
        assertThat(exhausted.redrives()).isEqualTo(3);
        assertThat(exhausted.original())
                .isEqualTo(new RecordCoordinates(
                        topic("stubborn"), exhausted.record().partition(), 0));
        assertThat(this.deadLetters.redrive("stubborn", exhausted.record()).exhausted())
                .isOne();
    }

    @Test
    void thoseWithAnExceptionAreChosenAndTheOthersComeNextTime() {
        List.of("chosen state", "chosen argument", "chosen state again").forEach(id -> sendTo("chosen", 0, id));
        awaitDeadLetters("chosen", 3);
        mend("chosen");
        RedriveReport report = this.deadLetters.redriveMatching("chosen", new ExceptionPattern("*ArgumentException"));
        assertThat(report.selection()).isEqualTo("*ArgumentException");
        awaitEnd("chosen");
        awaitCaughtUp("chosen");
        assertThat(effectsOf("chosen")).containsExactly("chosen argument");
        assertThat(redriveAll("chosen").sent()).isEqualTo(3);
        awaitCaughtUp("chosen");
        assertThat(redriveAll("chosen").sent()).isZero();
        assertThat(effectsOf("chosen")).containsExactly("chosen argument", "chosen state", "chosen state again");
    }

    @Test
    void deadLettersOfRetryTopicsGoBackToTheMainTopic() {
        send("retried", "retried a");
        String consumer = topic("retried") + "/Listeners.retried";
        Awaitility.await().until(() -> letters(consumer).size() == 1);
        mend("retried");
        assertThat(redriveAll(consumer).sent()).isOne();
        awaitCaughtUp("retried");
        assertThat(effectsOf("retried")).containsExactly("retried a");
        assertThat(letters(consumer).get(0).original().topic()).isEqualTo(topic("retried"));
        assertThat(TopicContents.of(topic("retried")).get(1).headers())
                .extracting(Header::key)
                .noneMatch(name -> name.startsWith("retry_topic") || name.startsWith("kafka_exception"));
    }

    @Test
    void withoutADeadLetterTopicThereIsNothingAndNoneIsCreated() {
        assertThat(this.deadLetters.find(DeadLetterQuery.of("healthy"))).isEqualTo(new Page<>(List.of(), null));
        assertThat(this.deadLetters.topics("healthy")).isEmpty();
        assertThat(redriveAll("healthy").state()).isEqualTo(JobState.COMPLETED);
        assertThat(this.deadLetters.find("healthy", new RecordCoordinates(topic("healthy") + "-dlt", 0, 0)))
                .isNull();
        assertThat(TopicContents.of(topic("healthy") + "-dlt")).isEmpty();
        assertThrown(OperatorActionException.class, () -> this.deadLetters.redriveAll("nobody"), "healthy");
    }

    @Test
    void headersThatLeadElsewhereAreNotFollowedAndWhatIsRefusedDoesNotKeepOthersBack() {
        craft("unroutable", topic("bystander"), 0, null, "1");
        craft("garbled", topic("crafted"), -1, null, "x");
        craft("no such partition", topic("crafted"), 7, null, "-3");
        craft("somebody else's", topic("crafted"), 0, "plain", "");
        craft("too large" + "!".repeat(3_000), topic("crafted"), 0, null, "1");
        craft("crafted good", topic("crafted"), 0, null, "1");
        List<DeadLetter> letters = letters("crafted");
        assertThat(letters)
                .extracting(DeadLetter::status)
                .containsExactly(
                        DeadLetterStatus.UNROUTABLE,
                        DeadLetterStatus.UNROUTABLE,
                        DeadLetterStatus.PENDING,
                        DeadLetterStatus.PENDING,
                        DeadLetterStatus.PENDING);
        assertThat(letters).extracting(DeadLetter::redrives).containsExactly(1, 0, 0, 1, 1);

        RedriveReport report = redriveAll("crafted");
        assertThat(report.state()).isEqualTo(JobState.COMPLETED);
        assertThat(report.sent()).isOne();
        assertThat(report.unroutable()).isEqualTo(2);
        assertThat(report.refused()).isEqualTo(2);
        assertThat(report.refusals())
                .extracting(RedriveReport.Refusal::reason)
                .anyMatch(reason -> reason.contains("no longer a partition 7"))
                .anyMatch(reason -> reason.contains("TooLarge"));
        awaitCaughtUp("crafted");
        assertThat(effectsOf("crafted")).containsExactly("crafted good");
        assertThat(TopicContents.of(topic("bystander"))).isEmpty();
        assertThat(letters("crafted"))
                .extracting(DeadLetter::status)
                .as("it is sent again with those before it that were refused")
                .endsWith(DeadLetterStatus.PENDING, DeadLetterStatus.PENDING);
        assertThat(redriveAll("crafted").sent()).isOne();
        awaitCaughtUp("crafted");
        assertThat(effectsOf("crafted")).containsExactly("crafted good");
    }

    @Test
    void deadLettersOfAnyShapeAreListedAndThoseThatLeadBackAreSent() {
        this.app.send(new ProducerRecord<>(topic("odd") + "-dlt", 0, null, "odd without headers"));
        ProducerRecord<String, String> tombstone = new ProducerRecord<>(topic("odd") + "-dlt", 0, "key", null);
        leadBack(tombstone, topic("odd"), 0)
                .add("message-id", "odd tombstone".getBytes(StandardCharsets.UTF_8))
                .add("idempotency-redrives", new byte[] {0, 0, 0, 2})
                .add("nothing", null)
                .add(KafkaHeaders.DLT_EXCEPTION_FQCN, null);
        this.app.send(tombstone);
        List<DeadLetter> letters = letters("odd");
        assertThat(letters)
                .extracting(DeadLetter::status)
                .containsExactly(DeadLetterStatus.UNROUTABLE, DeadLetterStatus.PENDING);
        assertThat(letters).extracting(DeadLetter::redrives).containsOnly(0);
        assertThat(letters).extracting(DeadLetter::exception).containsOnlyNulls();
        assertThat(letters.get(1).payloadSize()).isNull();
        assertThat(this.deadLetters.find("odd", letters.get(1).record()).payload())
                .isNull();
        assertThat(this.deadLetters.redrive("odd", letters.get(0).record()).unroutable())
                .isOne();
        RedriveReport report = redriveAll("odd");
        assertThat(report.sent()).isOne();
        assertThat(report.unroutable()).isOne();
        awaitCaughtUp("odd");
        assertThat(effectsOf("odd")).containsExactly("odd null");
    }

    @Test
    void aConsumerThatDoesNotRecogniseASecondCopyIsRedrivenByNameOnly() {
        craft("positions", "positions a", Instant.now());
        assertThrown(
                OperatorActionException.class,
                () -> this.deadLetters.redriveAll("positions"),
                "'positions'",
                "by their coordinates");
        DeadLetter letter = letters("positions").get(0);
        assertThat(this.deadLetters.redrive("positions", letter.record()).sent())
                .isOne();
        awaitCaughtUp("positions");
        assertThat(effectsOf("positions")).containsExactly("positions a");
    }

    @Test
    void aRedriveIsLimitedInItsRateOneAtATimeAndCanBeCancelled() {
        for (int i = 0; i < 120; i++) {
            craft("slow", "slow " + i, topic("slow"), 0, null, "0");
        }
        assertThat(this.deadLetters.redriveAll("slow").state()).isEqualTo(JobState.RUNNING);
        assertThrown(OperatorActionException.class, () -> this.deadLetters.redriveAll("slow"), "already");
        Awaitility.await().until(() -> this.deadLetters.lastRedrive("slow").sent() > 5);
        assertThat(this.deadLetters.cancel("slow")).isTrue();
        RedriveReport report = awaitEnd("slow");
        assertThat(report.state()).isEqualTo(JobState.CANCELLED);
        assertThat(report.sent()).isLessThan(120);
        assertThat(report.read()).isEqualTo(report.sent());
        assertThat(this.deadLetters.cancel("slow")).isFalse();
        DeadLetterQuery pending =
                DeadLetterQuery.of("slow").withStatus(DeadLetterStatus.PENDING).withSize(500);
        assertThat(this.deadLetters.find(pending).entries()).hasSize(120 - (int) report.sent());
        Page<DeadLetter> first =
                this.deadLetters.find(DeadLetterQuery.of("slow").withSize(100));
        Page<DeadLetter> second = this.deadLetters.find(
                DeadLetterQuery.of("slow").withAfter(first.next()).withSize(100));
        assertThat(second.entries()).hasSize(20);
        assertThat(second.next()).isNull();
    }

    /** Its message may have been processed and forgotten since. */
    @Test
    void aDeadLetterOlderThanTheRetentionIsSentOnlyByName() {
        craft("aged", "aged old", Instant.now().minus(Duration.ofHours(2)));
        craft("aged", "aged young", Instant.now());
        RedriveReport report = redriveAll("aged");
        assertThat(report.sent()).isOne();
        assertThat(report.expired()).isOne();
        List<DeadLetter> letters = letters("aged");
        assertThat(letters).extracting(DeadLetter::status).startsWith(DeadLetterStatus.EXPIRED);
        this.deadLetters.redriveMatching("aged", new ExceptionPattern("*"));
        assertThat(awaitEnd("aged").sent()).isZero();
        awaitCaughtUp("aged");
        assertThat(effectsOf("aged")).containsExactly("aged young");
        assertThat(this.deadLetters.redrive("aged", letters.get(0).record()).sent())
                .isOne();
        awaitCaughtUp("aged");
        assertThat(effectsOf("aged")).containsExactly("aged old", "aged young");
    }

    private void craft(String kind, String id, Instant at) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(topic(kind) + "-dlt", 0, at.toEpochMilli(), null, id);
        leadBack(record, topic(kind), 0).add("message-id", id.getBytes(StandardCharsets.UTF_8));
        this.app.send(record);
    }

    private void craft(String id, String topic, int partition, String consumer, String redrives) {
        craft("crafted", id, topic, partition, consumer, redrives);
    }

    /** Writes a dead letter as somebody else might. */
    private void craft(String kind, String id, String topic, int partition, String consumer, String redrives) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic(kind) + "-dlt", 0, null, id);
        leadBack(record, topic, partition)
                .add("message-id", id.getBytes(StandardCharsets.UTF_8))
                .add("idempotency-redrives", redrives.getBytes(StandardCharsets.UTF_8));
        if (consumer != null) {
            record.headers().add("idempotency-consumer", consumer.getBytes(StandardCharsets.UTF_8));
        }
        this.app.send(record);
    }

    private static Headers leadBack(ProducerRecord<?, ?> record, String topic, int partition) {
        return record.headers()
                .add(KafkaHeaders.DLT_ORIGINAL_TOPIC, topic.getBytes(StandardCharsets.UTF_8))
                .add(
                        KafkaHeaders.DLT_ORIGINAL_PARTITION,
                        ByteBuffer.allocate(4).putInt(partition).array())
                .add(
                        KafkaHeaders.DLT_ORIGINAL_OFFSET,
                        ByteBuffer.allocate(8).putLong(5).array());
    }

    private void mend(String kind) {
        Listeners.MENDED.add(kind);
    }

    private void awaitDeadLetters(String consumer, int count) {
        Awaitility.await().until(() -> letters(consumer).size() == count);
    }

    private List<DeadLetter> letters(String consumer) {
        return this.deadLetters.find(DeadLetterQuery.of(consumer)).entries();
    }

    private RedriveReport redriveAll(String consumer) {
        this.deadLetters.redriveAll(consumer);
        return awaitEnd(consumer);
    }

    private RedriveReport awaitEnd(String consumer) {
        return Awaitility.await()
                .until(
                        () -> this.deadLetters.lastRedrive(consumer),
                        report -> report != null && report.endedAt() != null);
    }

    @Component
    static class Listeners extends HasEffects {

        static final Set<String> MENDED = ConcurrentHashMap.newKeySet();

        private void work(String kind, String payload) {
            this.effects.happen(payload);
            if (!MENDED.contains(kind)) {
                throw payload.contains("argument")
                        ? new IllegalArgumentException("secret")
                        : new IllegalStateException("secret");
            }
        }

        @OfKind("plain")
        void plain(String payload) {
            work("plain", payload);
        }

        @OfKind("stubborn")
        void stubborn(String payload) {
            work("stubborn", payload);
        }

        @OfKind("chosen")
        void chosen(String payload) {
            work("chosen", payload);
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50))
        @KafkaListener(topics = "retried${suffix}", groupId = "retried${suffix}")
        @IdempotentListener
        void retried(String payload) {
            work("retried", payload);
        }

        @OfKind("healthy")
        void healthy(String payload) {}

        @OfKind("crafted")
        void crafted(String payload) {
            this.effects.happen(payload);
        }

        @OfKind("slow")
        void slow(String payload) {}

        @OfKind("odd")
        void odd(@Payload(required = false) String payload) {
            this.effects.happen("odd " + payload);
        }

        @OfKind(value = "positions", strategy = DeduplicationStrategy.OFFSET)
        void positions(String payload) {
            this.effects.happen(payload);
        }

        @OfKind(value = "aged", retention = "1h")
        void aged(String payload) {
            this.effects.happen(payload);
        }
    }
}
