package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.testing.TestBroker;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

/** An application that reads from one cluster and sends to another. */
class SeparateClustersIT extends ApplicationTest {

    @Test
    void replaysAndRedrivesGoWhereTheListenerReadsFromAndADeadLetterWhereTheApplicationSendsTo() throws Exception {
        try (TestBroker read = TestBroker.start(false)) {
            read.createTopic(this.topic, 1);
            List<String> properties = List.of(
                    "spring.application.name=shop",
                    "spring.kafka.consumer.bootstrap-servers=" + read.bootstrapServers(),
                    "idempotency.errors.max-attempts=1");
            try (TestApplication app = start(properties, Fickle.class)) {
                send(read, "1", "payload");
                await().atMost(Duration.ofSeconds(60)).until(() -> !app.bean(Inbox.class)
                        .find(InboxQuery.ALL.withStatus(InboxStatus.FAILED))
                        .entries()
                        .isEmpty());
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> TopicContents.values(this.topic + "-dlt").contains("payload"));
                assertThat(producers()).anyMatch(name -> name.contains("shop-idempotency-dead-letters"));

                assertThat(app.bean(Inbox.class).replayFailed("fickle").sent()).isOne();
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> app.bean(Effects.class).all().equals(List.of("payload")));
                assertThat(TopicContents.values(this.topic)).isEmpty();
                assertThat(producers()).anyMatch(name -> name.contains("shop-idempotency-replays"));

                DeadLetters deadLetters = app.bean(DeadLetters.class);
                deadLetters.redriveAll("fickle");
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> deadLetters.lastRedrive("fickle").endedAt() != null);
                assertThat(deadLetters.find(DeadLetterQuery.of("fickle")).letters())
                        .extracting(DeadLetter::status)
                        .containsExactly(DeadLetterStatus.REDRIVEN);
                Reconciliation reconciliation = app.bean(Reconciliation.class);
                await().atMost(Duration.ofSeconds(120)).until(() -> {
                    reconciliation.start(ReconciliationRequest.of("fickle", Duration.ofDays(1)));
                    return await().atMost(Duration.ofSeconds(60))
                                    .until(() -> reconciliation.lastReconciliation("fickle"), this::hasEnded)
                                    .count(ReconciliationOutcome.DUPLICATE)
                            == 2;
                });
                assertThat(app.bean(Effects.class).all()).containsExactly("payload");
                assertThat(TopicContents.values(this.topic)).isEmpty();
            }
        }
    }

    private boolean hasEnded(ReconciliationReport report) {
        return report.state() != ReconciliationReport.State.RUNNING;
    }

    private static List<String> producers() throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("kafka.producer:type=app-info,*"), null)
                .stream()
                .map(ObjectName::toString)
                .toList();
    }

    private void send(TestBroker broker, String id, String value) throws Exception {
        ProducerRecord<String, String> record = new ProducerRecord<>(this.topic, value);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        Map<String, Object> configuration = Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers());
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(configuration, new StringSerializer(), new StringSerializer())) {
            producer.send(record).get(30, TimeUnit.SECONDS);
        }
    }

    /** Fails the first time. */
    @Import(Effects.class)
    static class Fickle {

        private final Effects effects;
        private final AtomicBoolean failed = new AtomicBoolean();

        Fickle(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "fickle", inbox = "true")
        void on(String payload) {
            this.effects.happen(payload);
            if (this.failed.compareAndSet(false, true)) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
