package dev.idempotency.internal.inbox;

import static dev.idempotency.app.Operators.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Operators;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.testing.TestBroker;
import dev.idempotency.testing.TestKafka;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;

/** Brokers other than the application's default one, which all clients of the library must use; and unreachable brokers. */
@ExtendWith(OutputCaptureExtension.class)
class OtherBrokersIT extends ApplicationTest {

    /** The broker requires encryption and a login, and is named by a service connection. */
    @Test
    void checksDeadLettersReplaysAndIdsOfTopicsGoThroughTheServiceConnection(CapturedOutput output) {
        try (TestBroker broker = TestBroker.startWithLogin()) {
            broker.createTopic(this.topic, 1);
            broker.createTopic(this.topic + "-dlt", 1);
            List<String> properties = List.of(
                    "spring.kafka.bootstrap-servers=localhost:1",
                    "login-servers=" + broker.loginServers(),
                    "spring.ssl.bundle.pem.broker.truststore.certificate=file:" + broker.certificate(),
                    "spring.kafka.properties.sasl.mechanism=PLAIN",
                    "spring.kafka.properties.sasl.jaas.config=" + TestBroker.jaasConfiguration(),
                    "idempotency.retention=1h",
                    "idempotency.errors.max-attempts=1");
            try (TestApplication app = start(properties, Connection.class, Fickle.class)) {
                app.send(this.topic, null, "good");
                app.send(this.topic, null, "bad");

                await().until(() -> failed(app) == 1);
                assertThat(app.bean(Effects.class).all())
                        .as("by the id of their topic")
                        .containsExactly("good");
                await("the dead letter")
                        .until(() -> TopicContents.of(broker.bootstrapServers(), this.topic + "-dlt").stream()
                                .anyMatch(letter -> letter.value().equals("bad")));

                await("what is said when it has been published")
                        .until(() -> output.getAll().contains("published " + this.topic + "-0@1"));
                assertThat(output.getAll().lines().filter(line -> line.contains(this.topic + "-0@1")))
                        .as("said once")
                        .hasSize(1);

                assertThat(app.bean(Inbox.class).replayFailed("fickle").sent()).isOne();
                await("the replay").until(() -> app.bean(Effects.class).all().equals(List.of("bad", "good")));

                await("the broker's checks")
                        .until(() -> output.getAll().contains("The topic '" + this.topic + "' keeps messages"));
            }
        }
    }

    @Test
    void replaysAndRedrivesGoWhereTheListenerReadsFromAndADeadLetterWhereTheApplicationSendsTo() throws Exception {
        try (TestBroker read = TestBroker.start(false)) {
            read.createTopic(this.topic, 1);
            List<String> properties = List.of(
                    "spring.application.name=shop",
                    "spring.kafka.consumer.bootstrap-servers=" + read.bootstrapServers(),
                    "idempotency.errors.max-attempts=1");
            try (TestApplication app = start(properties, Fickle.class)) {
                try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", read.bootstrapServers()),
                        new StringSerializer(),
                        new StringSerializer())) {
                    producer.send(TestApplication.message(this.topic, null, null, "bad"));
                }
                await().until(() -> failed(app) == 1);
                await().until(() -> TopicContents.values(this.topic + "-dlt").contains("bad"));
                assertThat(producers()).anyMatch(name -> name.contains("shop-idempotency-dead-letters"));

                assertThat(app.bean(Inbox.class).replayFailed("fickle").sent()).isOne();
                await().until(() -> app.bean(Effects.class).all().equals(List.of("bad")));
                assertThat(TopicContents.values(this.topic)).isEmpty();
                assertThat(producers()).anyMatch(name -> name.contains("shop-idempotency-replays"));

                Operators operators = Operators.of(app);
                assertThat(operators.redriveAll("fickle").sent()).isOne();
                assertThat(operators.letters("fickle"))
                        .extracting(DeadLetter::status)
                        .containsExactly(DeadLetterStatus.REDRIVEN);
                ReconciliationRequest request = ReconciliationRequest.of("fickle", Duration.ofDays(1));
                await().atMost(Duration.ofSeconds(120))
                        .until(() -> operators.reconcile(request).count(ReconciliationOutcome.DUPLICATE) == 2);
                assertThat(app.bean(Effects.class).all()).containsExactly("bad");
                assertThat(TopicContents.values(this.topic)).isEmpty();
            }
        }
    }

    @Test
    @Tag("slow")
    void anApplicationThatEndsLeavesNoJobBehind() {
        TestKafka.createTopics(1, this.topic + "-dlt");
        try (TestApplication app = start(
                List.of(
                        "idempotency.reconciliation.records-per-second=1",
                        "idempotency.dead-letters.redrives-per-second=1",
                        "idempotency.errors.max-attempts=1"),
                Fickle.class)) {
            for (int i = 0; i < 30; i++) {
                app.send(this.topic, null, "good");
                app.send(this.topic, null, "bad " + i);
            }
            app.awaitCaughtUp(this.group, this.topic);
            Operators operators = Operators.of(app);
            operators.reconciliation().start(ReconciliationRequest.of("fickle", Duration.ofDays(1)));
            operators.deadLetters().redriveAll("fickle");
            assertThat(ours()).contains("idempotency-redrive-fickle", "idempotency-reconciliation-fickle");
            app.context().close();
            assertThat(operators.awaitRedrive("fickle").state()).isEqualTo(JobState.CANCELLED);
            assertThat(operators.awaitReconciliation("fickle").state()).isEqualTo(JobState.CANCELLED);
        }
        assertThat(ours()).noneMatch(name -> name.startsWith("idempotency-"));
        // A Kafka client does not wait for its threads when it is closed.
        await().until(() -> ours().isEmpty());
    }

    private static List<String> ours() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.contains("idempotency-re"))
                .toList();
    }

    @Test
    @Tag("slow")
    void brokersThatDoNotAnswerAreNamedWithTheRemedy() throws Exception {
        try (TestApplication app = start(
                List.of("spring.kafka.bootstrap-servers=localhost:1", "spring.kafka.listener.auto-startup=false"),
                Fickle.class,
                PatternListener.class)) {
            Operators operators = Operators.of(app);
            operators.reconciliation().start(ReconciliationRequest.of("fickle", Duration.ofDays(1)));
            CompletableFuture<?> listed = CompletableFuture.runAsync(() -> assertRefused(
                    () -> operators.letters("fickle"),
                    "'fickle'",
                    this.topic + "-dlt",
                    "See that the brokers can be reached"));
            CompletableFuture<?> matched = CompletableFuture.runAsync(() -> assertRefused(
                    () -> operators.deadLetters().redriveAll("pattern"),
                    "'pattern'",
                    "See that the brokers can be reached"));
            RedriveReport redrive = operators.redriveAll("fickle");
            assertThat(redrive.state()).isEqualTo(JobState.FAILED);
            assertThat(redrive.failure()).contains("consumer 'fickle'", "brokers", "redrive again");
            ReconciliationReport report = operators.awaitReconciliation("fickle");
            assertThat(report.state()).isEqualTo(JobState.FAILED);
            assertThat(report.failure()).contains("consumer 'fickle'", "brokers", "start it again");
            listed.get(30, TimeUnit.SECONDS);
            matched.get(30, TimeUnit.SECONDS);
        }
    }

    private static int failed(TestApplication app) {
        return app.bean(Inbox.class)
                .find(InboxQuery.ALL.withStatus(InboxStatus.FAILED))
                .entries()
                .size();
    }

    private static List<String> producers() throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("kafka.producer:type=app-info,*"), null)
                .stream()
                .map(ObjectName::toString)
                .toList();
    }

    /** A service connection, as provided by Testcontainers or a platform. */
    static class Connection {

        @Bean
        KafkaConnectionDetails kafka(@Value("${login-servers}") List<String> servers, SslBundles bundles) {
            return new KafkaConnectionDetails() {

                @Override
                public List<String> getBootstrapServers() {
                    return servers;
                }

                @Override
                public SslBundle getSslBundle() {
                    return bundles.getBundle("broker");
                }

                @Override
                public String getSecurityProtocol() {
                    return "SASL_SSL";
                }
            };
        }
    }

    static class PatternListener {

        @KafkaListener(topicPattern = "${topic}.*", groupId = "${group}-pattern")
        @IdempotentListener(consumer = "pattern")
        void on(String payload) {}
    }

    /** Fails once for each bad payload. The keys of its messages include the topic's id. */
    static class Fickle extends HasEffects {

        private final Set<String> called = ConcurrentHashMap.newKeySet();

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "fickle", inbox = "true", key = "#coordinates")
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("bad") && this.called.add(payload)) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
