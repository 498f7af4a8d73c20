package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

class ArrayOfBatchIT extends OneBatchTest {

    @Test
    void anArrayIsFiltered() {
        try (TestApplication app = startWith(List.of(), Arrays.class, "1:a", "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
        }
    }

    @Import(Effects.class)
    static class Arrays {

        private final Effects effects;

        Arrays(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String[] payloads) {
            for (String payload : payloads) {
                this.effects.happen(payload);
            }
        }
    }
}
