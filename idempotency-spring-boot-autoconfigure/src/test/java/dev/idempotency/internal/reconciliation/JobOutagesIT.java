package dev.idempotency.internal.reconciliation;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.OperatorActionException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Operators;
import dev.idempotency.app.TestApplication;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.annotation.KafkaListener;

/** What redrives and reconciliations make of servers that do not answer, and of an application that ends under them. */
@Tag("slow")
class JobOutagesIT extends ApplicationTest {

    private static final int MESSAGES = 30;

    @Test
    void anApplicationThatEndsLeavesNoneOfThemBehind() {
        TestKafka.createTopics(1, this.topic + "-dlt");
        try (TestApplication app = start(
                List.of(
                        "idempotency.reconciliation.records-per-second=1",
                        "idempotency.dead-letters.redrives-per-second=1",
                        "idempotency.errors.max-attempts=1"),
                Listener.class)) {
            for (int i = 0; i < MESSAGES; i++) {
                app.send(this.topic, "message " + i, "message");
                app.send(this.topic, null, "a dead letter, as it has no id");
            }
            app.awaitCaughtUp(this.group, this.topic);
            Reconciliation reconciliation = app.bean(Reconciliation.class);
            DeadLetters deadLetters = app.bean(DeadLetters.class);
            reconciliation.start(ReconciliationRequest.of("plain", Duration.ofDays(1)));
            deadLetters.redriveAll("plain");
            assertThat(ours()).contains("idempotency-redrive-plain", "idempotency-reconciliation-plain");
            app.context().close();
            assertThat(deadLetters.lastRedrive("plain").state()).isEqualTo(JobState.CANCELLED);
            assertThat(reconciliation.lastReconciliation("plain").state()).isEqualTo(JobState.CANCELLED);
        }
        assertThat(ours()).noneMatch(name -> name.startsWith("idempotency-"));
        // Clients of Kafka do not wait for their own threads.
        Awaitility.await().until(() -> ours().isEmpty());
    }

    private static List<String> ours() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.contains("idempotency-re"))
                .toList();
    }

    @Test
    void brokersThatDoNotAnswerAreNamedWithTheRemedy() throws Exception {
        try (TestApplication app = start(
                List.of("spring.kafka.bootstrap-servers=localhost:1", "spring.kafka.listener.auto-startup=false"),
                Listener.class,
                PatternListener.class)) {
            Operators operators = Operators.of(app);
            operators.reconciliation().start(ReconciliationRequest.of("plain", Duration.ofDays(1)));
            CompletableFuture<?> listed = CompletableFuture.runAsync(() -> assertThrown(
                    OperatorActionException.class,
                    () -> operators.letters("plain"),
                    "'plain'",
                    this.topic + "-dlt",
                    "See that the brokers can be reached"));
            CompletableFuture<?> matched = CompletableFuture.runAsync(() -> assertThrown(
                    OperatorActionException.class,
                    () -> operators.deadLetters().redriveAll("pattern"),
                    "'pattern'",
                    "See that the brokers can be reached"));
            RedriveReport redrive = operators.redriveAll("plain");
            assertThat(redrive.state()).isEqualTo(JobState.FAILED);
            assertThat(redrive.failure()).contains("consumer 'plain'", "brokers", "redrive again");
            ReconciliationReport report = operators.awaitReconciliation("plain");
            assertThat(report.state()).isEqualTo(JobState.FAILED);
            assertThat(report.failure()).contains("consumer 'plain'", "brokers", "start it again");
            listed.get(30, TimeUnit.SECONDS);
            matched.get(30, TimeUnit.SECONDS);
        }
    }

    static class Listener {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "plain")
        void on(String payload) {}
    }

    static class PatternListener {

        @KafkaListener(topicPattern = "${topic}.*", groupId = "${group}-pattern")
        @IdempotentListener(consumer = "pattern")
        void on(String payload) {}
    }
}
