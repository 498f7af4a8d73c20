package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestMariaDb;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

/** The driver refuses statements that are larger than it was told, as MySQL's does with those that the server would refuse. */
class LargePayloadsIT {

    @Test
    void aMessageThatTheDatabaseCannotKeepIsGivenUpAndTheNextOneFollows() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        String topic = TestKafka.createTopic("large", 1);
        TestKafka.createTopics(1, topic + "-dlt");
        try (TestApplication app = TestApplication.start(
                url.orElseThrow() + "&maxAllowedPacket=300000",
                List.of(
                        "topic=" + topic,
                        "idempotency.errors.max-attempts=2",
                        "idempotency.errors.initial-interval=1ms"),
                Listener.class)) {
            String large = "x".repeat(400_000);
            app.send(topic, "large", large);
            app.send(topic, "next", "next");
            app.awaitCaughtUp(topic, topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("next");
            assertThat(TopicContents.values(topic + "-dlt")).containsExactly(large);
        }
    }

    @Import(Effects.class)
    static class Listener {

        private final Effects effects;

        Listener(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${topic}")
        @IdempotentListener(consumer = "large", inbox = "true")
        void on(String payload) {
            this.effects.happen(payload.substring(0, 4));
        }
    }
}
