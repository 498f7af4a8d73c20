package dev.idempotency.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** Operators who do the same at the same time, in two instances of an application. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoInstancesIT {

    private static final int MESSAGES = 40;

    private final String suffix = TestKafka.uniqueName("");
    private TestDatabase database;
    private TestApplication one;
    private TestApplication two;

    @BeforeAll
    void start() {
        TestKafka.createTopics(2, topic("dying"), topic("dying") + "-dlt", topic("skipped"));
        this.database = TestPostgres.createDatabase();
        this.one = startInstance();
        this.two = startInstance();
    }

    private TestApplication startInstance() {
        return TestApplication.start(
                this.database,
                List.of(
                        "suffix=" + this.suffix,
                        "idempotency.errors.initial-interval=1ms",
                        "idempotency.errors.max-attempts=1"),
                Listeners.class);
    }

    @AfterAll
    void stop() {
        this.one.close();
        this.two.close();
        this.database.close();
    }

    @Test
    void whatBothInstancesRedriveIsAppliedOnce() {
        List<String> messages = messages("dying");
        messages.forEach(message -> this.two.send(topic("dying"), message, message));
        List<DeadLetters> both = List.of(this.one.bean(DeadLetters.class), this.two.bean(DeadLetters.class));
        await(() -> letters(both.get(0)).size() == MESSAGES);
        Listeners.mended = true;
        both.forEach(each -> each.redriveAll("dying"));
        for (DeadLetters each : both) {
            await(() -> each.lastRedrive("dying").endedAt() != null);
            RedriveReport report = each.lastRedrive("dying");
            assertThat(report.state()).isEqualTo(RedriveReport.State.COMPLETED);
            assertThat(report.read()).isEqualTo(report.records());
        }
        assertThat(letters(both.get(0))).extracting(DeadLetter::status).containsOnly(DeadLetterStatus.REDRIVEN);
        both.get(0).redriveAll("dying");
        await(() -> both.get(0).lastRedrive("dying").endedAt() != null);
        assertThat(both.get(0).lastRedrive("dying").sent()).isZero();
        assertApplied("dying", messages);
    }

    @Test
    void whatBothInstancesReplayIsAppliedOnce() {
        for (int partition = 0; partition < 2; partition++) {
            ProducerRecord<String, String> first = new ProducerRecord<>(topic("skipped"), partition, null, "first");
            first.headers().add("message-id", ("first " + partition).getBytes(StandardCharsets.UTF_8));
            this.two.send(first);
        }
        this.two.awaitCaughtUp(topic("skipped"), topic("skipped"));
        List<String> messages = messages("skipped");
        List.of(this.one, this.two).forEach(app -> app.bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer("skipped")
                .stop());
        messages.forEach(message -> this.two.send(topic("skipped"), message, message));
        commitAll("skipped");
        Reconciliation one = this.one.bean(Reconciliation.class);
        Reconciliation other = this.two.bean(Reconciliation.class);
        ReconciliationRequest request = new ReconciliationRequest("skipped", Duration.ofDays(1), Instant.EPOCH);
        one.start(request);
        other.start(request);
        for (Reconciliation each : List.of(one, other)) {
            await(() -> each.lastReconciliation("skipped").state() != ReconciliationReport.State.RUNNING);
            ReconciliationReport report = each.lastReconciliation("skipped");
            assertThat(report.state()).isEqualTo(ReconciliationReport.State.COMPLETED);
            assertThat(report.count(RecordFate.MISSING)).isEqualTo(MESSAGES);
            assertThat(report.share()).isEqualTo(1.0);
        }
        List.of(this.one, this.two).forEach(app -> app.bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer("skipped")
                .start());
        assertApplied("skipped", messages);
    }

    private void assertApplied(String kind, List<String> messages) {
        this.two.awaitCaughtUp(topic(kind), topic(kind));
        Map<String, Integer> counts = this.two.bean(Effects.class).counts();
        counts.keySet().removeIf(name -> !name.startsWith(kind));
        assertThat(counts)
                .hasSize(messages.size())
                .allSatisfy((name, count) -> assertThat(count).as(name).isOne());
    }

    private static List<String> messages(String kind) {
        return IntStream.range(0, MESSAGES).mapToObj(i -> kind + " " + i).toList();
    }

    private static List<DeadLetter> letters(DeadLetters deadLetters) {
        return deadLetters.find(DeadLetterQuery.of("dying")).letters();
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }

    private void commitAll(String kind) {
        TestApplication.commitAll(topic(kind), topic(kind));
    }

    private String topic(String kind) {
        return kind + this.suffix;
    }

    @Import(Effects.class)
    static class Listeners {

        static volatile boolean mended;

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "dying${suffix}", groupId = "dying${suffix}")
        @IdempotentListener(consumer = "dying")
        void dying(String payload) {
            this.effects.happen(payload);
            if (!mended) {
                throw new IllegalStateException("on purpose");
            }
        }

        @KafkaListener(id = "skipped", topics = "skipped${suffix}", groupId = "skipped${suffix}")
        @IdempotentListener(consumer = "skipped")
        void skipped(String payload) {
            this.effects.happen(payload);
        }
    }
}
