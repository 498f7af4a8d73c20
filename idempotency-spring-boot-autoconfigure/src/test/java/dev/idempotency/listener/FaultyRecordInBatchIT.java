package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

class FaultyRecordInBatchIT extends OneBatchTest {

    @Test
    void aKeyWhoseExpressionThrowsConcernsItsRecordAlone() {
        try (TestApplication app = startWith(List.of(), NumbersAreKeys.class, "1:1", "2:2", "3:x", "4:4")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "2", "4");
            assertThat(deadLetters()).containsExactly("x");
        }
    }

    @Import(Effects.class)
    static class NumbersAreKeys {

        private final Effects effects;

        NumbersAreKeys(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "T(java.lang.Integer).parseInt(#payload)")
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }
}
