package dev.idempotency.app;

import dev.idempotency.OperatorActionException;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.RedriveReport;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.springframework.kafka.support.KafkaHeaders;

/** An operator's view of an application: starts jobs and waits until they have ended. */
public record Operators(DeadLetters deadLetters, Reconciliation reconciliation) {

    public static Operators of(TestApplication app) {
        return new Operators(app.bean(DeadLetters.class), app.bean(Reconciliation.class));
    }

    public List<DeadLetter> letters(String consumer) {
        return this.deadLetters.find(DeadLetterQuery.of(consumer)).entries();
    }

    public RedriveReport redriveAll(String consumer) {
        this.deadLetters.redriveAll(consumer);
        return awaitRedrive(consumer);
    }

    public RedriveReport awaitRedrive(String consumer) {
        return Awaitility.await()
                .until(() -> this.deadLetters.lastRedrive(consumer), report -> report.state() != JobState.RUNNING);
    }

    public ReconciliationReport reconcile(ReconciliationRequest request) {
        this.reconciliation.start(request);
        return awaitReconciliation(request.consumer());
    }

    public ReconciliationReport awaitReconciliation(String consumer) {
        return Awaitility.await()
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> this.reconciliation.lastReconciliation(consumer),
                        report -> report.state() != JobState.RUNNING);
    }

    /** Asserts that an operator's action is rejected, with a message that contains all of these. */
    public static void assertRefused(ThrowingCallable action, String... messages) {
        Thrown.assertThrown(OperatorActionException.class, action, messages);
    }

    /** Adds the headers of a dead letter that name its original partition. */
    public static Headers leadBack(ProducerRecord<?, ?> record, String topic, int partition) {
        return record.headers()
                .add(KafkaHeaders.DLT_ORIGINAL_TOPIC, topic.getBytes(StandardCharsets.UTF_8))
                .add(
                        KafkaHeaders.DLT_ORIGINAL_PARTITION,
                        ByteBuffer.allocate(4).putInt(partition).array())
                .add(
                        KafkaHeaders.DLT_ORIGINAL_OFFSET,
                        ByteBuffer.allocate(8).putLong(5).array());
    }
}
