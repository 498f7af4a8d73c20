package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.testing.TestBroker;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

/** A broker that wants encryption and a login, named by a service connection: all of our own clients get there, too. */
@ExtendWith(OutputCaptureExtension.class)
class SecuredBrokerIT extends ApplicationTest {

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

                await().atMost(Duration.ofSeconds(60)).until(() -> failed(app) == 1);
                assertThat(app.bean(Effects.class).all())
                        .as("by the id of their topic")
                        .containsExactly("good");
                await("the dead letter")
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> TopicContents.of(broker.bootstrapServers(), this.topic + "-dlt").stream()
                                .anyMatch(letter -> letter.value().equals("bad")));

                await("what is said when it has been published")
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> output.getAll().contains("published " + this.topic + "-0@1"));
                assertThat(output.getAll().lines().filter(line -> line.contains(this.topic + "-0@1")))
                        .as("said once")
                        .hasSize(1);

                assertThat(app.bean(Inbox.class).replayFailed("fickle").sent()).isOne();
                await("the replay")
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> app.bean(Effects.class).all().equals(List.of("bad", "good")));

                await("the broker's checks").atMost(Duration.ofSeconds(30)).until(() -> output.getAll()
                        .contains("The topic '" + this.topic + "' keeps messages"));
            }
        }
    }

    private static int failed(TestApplication app) {
        return app.bean(Inbox.class)
                .find(InboxQuery.ALL.withStatus(InboxStatus.FAILED))
                .entries()
                .size();
    }

    /** As Testcontainers or a platform would name it. */
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

    /** Fails the first time for what is bad. */
    @Import(Effects.class)
    static class Fickle {

        private final Effects effects;
        private final Set<String> called = ConcurrentHashMap.newKeySet();

        Fickle(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "fickle", inbox = "true", key = "#coordinates")
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.equals("bad") && this.called.add(payload)) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
