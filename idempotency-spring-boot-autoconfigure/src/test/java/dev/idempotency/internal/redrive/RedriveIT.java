package dev.idempotency.internal.redrive;

import static dev.idempotency.app.Operators.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.Operators;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.Header;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.stereotype.Component;

class RedriveIT extends SharedApplicationTest {

    private Operators operators;
    private DeadLetters deadLetters;

    @BeforeAll
    void start() throws Exception {
        createTopics(2, "plain", "stubborn", "chosen", "slow", "aged", "positions", "retried", "healthy", "bystander");
        // Set at creation, as brokers respond before they apply a changed setting.
        NewTopic limited = new NewTopic(topic("crafted"), 2, (short) 1)
                .configs(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "1500"));
        TestKafka.sharedAdmin().createTopics(List.of(limited)).all().get(30, TimeUnit.SECONDS);
        TestKafka.createTopics(
                2,
                Stream.of("plain", "stubborn", "chosen", "slow", "aged", "positions", "crafted")
                        .map(kind -> topic(kind) + "-dlt")
                        .toArray(String[]::new));
        start(Listeners.class, "idempotency.errors.max-attempts=1", "idempotency.dead-letters.redrives-per-second=5");
        this.operators = Operators.of(this.app);
        this.deadLetters = this.operators.deadLetters();
    }

    @Test
    void deadLettersGoBackToTheirPartitionWithTheirIdAndAreProcessedOnceHoweverOftenTheyAreSent() {
        sendTo("plain", 1, "plain a");
        sendTo("plain", 1, "plain b");
        awaitDeadLetters("plain", 2);
        mend("plain");

        RedriveReport report = this.operators.redriveAll("plain");
        assertThat(report.state()).isEqualTo(JobState.COMPLETED);
        assertThat(report.sent()).isEqualTo(2);
        assertEffects("plain", "plain a", "plain b");
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

        assertThat(this.operators.redriveAll("plain").sent()).isZero();
        List<DeadLetter> letters = this.operators.letters("plain");
        assertThat(letters).extracting(DeadLetter::status).containsOnly(DeadLetterStatus.REDRIVEN);
        assertThat(letters).extracting(DeadLetter::exception).containsOnly(IllegalStateException.class.getName());
        assertThat(this.deadLetters.redrive("plain", letters.get(0).record()).sent())
                .isOne();
        assertEffects("plain", "plain a", "plain b");
    }

    @Test
    void whatFailsInEveryRoundIsExhausted() {
        send("stubborn", "stubborn");
        for (int round = 1; round <= 3; round++) {
            awaitDeadLetters("stubborn", round);
            assertThat(this.operators.redriveAll("stubborn").sent()).isOne();
        }
        awaitDeadLetters("stubborn", 4);
        RedriveReport report = this.operators.redriveAll("stubborn");
        assertThat(report.sent()).isZero();
        assertThat(report.exhausted()).isOne();
        DeadLetter exhausted = this.operators.letters("stubborn").get(3);
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
        this.operators.awaitRedrive("chosen");
        assertEffects("chosen", "chosen argument");
        assertThat(this.operators.redriveAll("chosen").sent()).isEqualTo(3);
        awaitCaughtUp("chosen");
        assertThat(this.operators.redriveAll("chosen").sent()).isZero();
        assertEffects("chosen", "chosen argument", "chosen state", "chosen state again");
    }

    @Test
    void deadLettersOfRetryTopicsGoBackToTheMainTopic() {
        send("retried", "retried a");
        String consumer = topic("retried") + "/Listeners.retried";
        Awaitility.await().until(() -> this.operators.letters(consumer).size() == 1);
        mend("retried");
        assertThat(this.operators.redriveAll(consumer).sent()).isOne();
        assertEffects("retried", "retried a");
        assertThat(this.operators.letters(consumer).get(0).original().topic()).isEqualTo(topic("retried"));
        assertThat(TopicContents.of(topic("retried")).get(1).headers())
                .extracting(Header::key)
                .noneMatch(name -> name.startsWith("retry_topic") || name.startsWith("kafka_exception"));
    }

    @Test
    void withoutADeadLetterTopicThereIsNothingAndNoneIsCreated() {
        assertThat(this.deadLetters.find(DeadLetterQuery.of("healthy"))).isEqualTo(new Page<>(List.of(), null));
        assertThat(this.deadLetters.topics("healthy")).isEmpty();
        assertThat(this.operators.redriveAll("healthy").state()).isEqualTo(JobState.COMPLETED);
        assertThat(this.deadLetters.find("healthy", new RecordCoordinates(topic("healthy") + "-dlt", 0, 0)))
                .isNull();
        assertThat(TopicContents.of(topic("healthy") + "-dlt")).isEmpty();
        assertRefused(() -> this.deadLetters.redriveAll("nobody"), "healthy");
    }

    @Test
    void lettersOfAnyShapeAreListedAndOnlyThoseThatLeadBackAreSentThoughOthersAreRefused() {
        craft("unroutable", topic("bystander"), 0, "idempotency-redrives", "1");
        craft("garbled", topic("crafted"), -1, "idempotency-redrives", "x");
        this.app.send(new ProducerRecord<>(topic("crafted") + "-dlt", 0, null, "without headers"));
        craft("no such partition", topic("crafted"), 7, "idempotency-redrives", "-3");
        craft("somebody else's", topic("crafted"), 0, "idempotency-consumer", "plain");
        craft("too large" + "!".repeat(3_000), topic("crafted"), 0, "idempotency-redrives", "1");
        craft("crafted good", topic("crafted"), 0, "idempotency-redrives", "1");
        craft(null, topic("crafted"), 0, "idempotency-redrives", "\0\0\0\2");
        List<DeadLetter> letters = this.operators.letters("crafted");
        assertThat(letters)
                .extracting(letter -> letter.status() + " " + letter.redrives() + " " + letter.exception())
                .containsExactly(
                        "unroutable 1 null",
                        "unroutable 0 null",
                        "unroutable 0 null",
                        "pending 0 null",
                        "pending 1 null",
                        "pending 1 null",
                        "pending 0 null");
        DeadLetter tombstone = letters.get(6);
        assertThat(tombstone.payloadSize()).isNull();
        assertThat(this.deadLetters.find("crafted", tombstone.record()).payload())
                .isNull();
        RecordCoordinates unroutable = letters.get(2).record();
        assertThat(this.deadLetters.redrive("crafted", unroutable).unroutable()).isOne();

        RedriveReport report = this.operators.redriveAll("crafted");
        assertThat(report.state()).isEqualTo(JobState.COMPLETED);
        assertThat(report.sent()).isEqualTo(2);
        assertThat(report.unroutable()).isEqualTo(3);
        assertThat(report.refused()).isEqualTo(2);
        assertThat(report.refusals())
                .extracting(RedriveReport.Refusal::reason)
                .anyMatch(reason -> reason.contains("no longer a partition 7"))
                .anyMatch(reason -> reason.contains("TooLarge"));
        assertEffects("crafted", "crafted good", "crafted null");
        assertThat(TopicContents.of(topic("bystander"))).isEmpty();
        assertThat(this.operators.letters("crafted"))
                .extracting(DeadLetter::status)
                .as("they are sent again with those before them that were refused")
                .endsWith(DeadLetterStatus.PENDING, DeadLetterStatus.PENDING, DeadLetterStatus.PENDING);
        assertThat(this.operators.redriveAll("crafted").sent()).isEqualTo(2);
        assertEffects("crafted", "crafted good", "crafted null");
    }

    @Test
    void aConsumerThatDoesNotRecogniseASecondCopyIsRedrivenByNameOnly() {
        craft("positions", "positions a", Instant.now());
        assertRefused(() -> this.deadLetters.redriveAll("positions"), "'positions'", "by their coordinates");
        DeadLetter letter = this.operators.letters("positions").get(0);
        assertThat(this.deadLetters.redrive("positions", letter.record()).sent())
                .isOne();
        assertEffects("positions", "positions a");
    }

    @Test
    void aRedriveIsLimitedInItsRateOneAtATimeAndCanBeCancelled() {
        for (int i = 0; i < 120; i++) {
            craft("slow", "slow " + i, Instant.now());
        }
        assertThat(this.deadLetters.redriveAll("slow").state()).isEqualTo(JobState.RUNNING);
        assertRefused(() -> this.deadLetters.redriveAll("slow"), "already");
        Awaitility.await().until(() -> this.deadLetters.lastRedrive("slow").sent() > 5);
        assertThat(this.deadLetters.cancel("slow")).isTrue();
        RedriveReport report = this.operators.awaitRedrive("slow");
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

    /** The message may have been processed and forgotten since. */
    @Test
    void aDeadLetterOlderThanTheRetentionIsSentOnlyByName() {
        craft("aged", "aged old", Instant.now().minus(Duration.ofHours(2)));
        craft("aged", "aged young", Instant.now());
        RedriveReport report = this.operators.redriveAll("aged");
        assertThat(report.sent()).isOne();
        assertThat(report.expired()).isOne();
        List<DeadLetter> letters = this.operators.letters("aged");
        assertThat(letters).extracting(DeadLetter::status).startsWith(DeadLetterStatus.EXPIRED);
        this.deadLetters.redriveMatching("aged", new ExceptionPattern("*"));
        assertThat(this.operators.awaitRedrive("aged").sent()).isZero();
        assertEffects("aged", "aged young");
        assertThat(this.deadLetters.redrive("aged", letters.get(0).record()).sent())
                .isOne();
        assertEffects("aged", "aged old", "aged young");
    }

    private void craft(@Nullable String id, String topic, int partition, String header, String value) {
        craft("crafted", Instant.now(), id, topic, partition, header, value);
    }

    private void craft(String kind, String id, Instant at) {
        craft(kind, at, id, topic(kind), 0, "idempotency-redrives", "0");
    }

    /** Writes a dead letter as another application might. */
    private void craft(
            String kind, Instant at, @Nullable String id, String topic, int partition, String header, String value) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(topic(kind) + "-dlt", 0, at.toEpochMilli(), null, id);
        Operators.leadBack(record, topic, partition)
                .add("message-id", ((id != null) ? id : "tombstone").getBytes(StandardCharsets.UTF_8))
                .add(header, value.getBytes(StandardCharsets.UTF_8))
                .add(KafkaHeaders.DLT_EXCEPTION_FQCN, null)
                .add("nothing", null);
        this.app.send(record);
    }

    private void mend(String kind) {
        Listeners.MENDED.add(kind);
    }

    private void awaitDeadLetters(String consumer, int count) {
        Awaitility.await().until(() -> this.operators.letters(consumer).size() == count);
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
        void crafted(@Payload(required = false) String payload) {
            this.effects.happen((payload != null) ? payload : "crafted null");
        }

        @OfKind("slow")
        void slow(String payload) {}

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
