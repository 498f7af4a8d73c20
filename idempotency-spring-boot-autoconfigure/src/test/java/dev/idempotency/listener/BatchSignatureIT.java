package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

class BatchSignatureIT extends OneBatchTest {

    @ParameterizedTest
    @ValueSource(classes = {Sets.class, Joined.class})
    void aBatchListenerThatDuplicatesCannotBeTakenOutOfIsRefused(Class<?> listener) {
        assertThatThrownBy(() -> startWith(List.of(), listener).close())
                .rootCause()
                .hasMessageContaining("batch-signature");
    }

    @Import(Effects.class)
    static class Sets {

        private final Effects effects;

        Sets(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(Set<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }

    @Import(Effects.class)
    static class Joined {

        private final Effects effects;

        Joined(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payloads) {
            this.effects.happen(payloads);
        }
    }
}
