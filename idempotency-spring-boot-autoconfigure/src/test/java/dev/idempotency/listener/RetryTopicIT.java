package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.observe.Duplicate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;

class RetryTopicIT extends ApplicationTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "#coordinates"})
    void theAttemptInTheRetryTopicIsAppliedOnceAndKnownAsTheSameMessage(String key) {
        try (TestApplication app = start(List.of("key=" + key), FailsFirst.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                            app.bean(Effects.class).all())
                    .containsExactly("a"));
            app.rewind(this.group, this.topic);
            Outcomes outcomes = app.bean(Outcomes.class);
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !outcomes.duplicates.isEmpty());
            assertThat(outcomes.duplicates).extracting(Duplicate::kind).containsOnly(DuplicateKind.REDELIVERY);
            assertThat(outcomes.consumers).hasSize(1);
            assertThat(outcomes.consumers.get(0).name()).isEqualTo(this.group + "/FailsFirst.on");
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
        }
    }

    @Test
    void aMessageWithoutAKeyGoesStraightToTheDeadLetterTopic() {
        try (TestApplication app = start(List.of("key="), FailsFirst.class, Outcomes.class)) {
            app.send(this.topic, "1", "with a key");
            app.send(this.topic, null, "a");
            Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                            app.bean(FailsFirst.class).deadLetters())
                    .containsExactly("a"));
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(1);
            assertThat(app.bean(ListenerDefinitionRegistry.class).listeners())
                    .flatExtracting(listener -> listener.consumer().topics())
                    .contains(this.topic)
                    .doesNotContain(this.topic + "-dlt");
            assertThat(app.bean(Effects.class).all()).containsExactly("with a key");
        }
    }

    @Import(Effects.class)
    static class FailsFirst {

        private final AtomicInteger calls = new AtomicInteger();
        private final List<String> deadLetters = new CopyOnWriteArrayList<>();
        private final Effects effects;

        FailsFirst(Effects effects) {
            this.effects = effects;
        }

        List<String> deadLetters() {
            return this.deadLetters;
        }

        @RetryableTopic(attempts = "3", backOff = @BackOff(delay = 100))
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "${key}")
        void on(String payload) {
            this.effects.happen(payload);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the first attempt fails");
            }
        }

        @DltHandler
        void onDeadLetter(String payload) {
            this.deadLetters.add(payload);
        }
    }
}
