package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

class RecordListenerIT {

    private final String topic = TestKafka.createTopic("records", 1);
    private final String group = TestKafka.uniqueName("group");
    private TestDatabase database;

    @BeforeEach
    void createDatabase() {
        this.database = TestPostgres.createDatabase();
    }

    @AfterEach
    void dropDatabase() {
        this.database.close();
    }

    private TestApplication start(Class<?>... classes) {
        return TestApplication.start(this.database, List.of("topic=" + this.topic, "group=" + this.group), classes);
    }

    @Test
    void theSameMessageSentTwiceIsAppliedOnceAndAcknowledged() {
        try (TestApplication app = start(PayloadListener.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
        }
    }

    @Import(Effects.class)
    static class PayloadListener {

        private final Effects effects;

        PayloadListener(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
