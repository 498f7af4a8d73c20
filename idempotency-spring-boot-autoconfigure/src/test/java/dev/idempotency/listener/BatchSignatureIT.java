package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import java.util.LinkedList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageHeaderAccessor;

class BatchSignatureIT extends OneBatchTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                Sets.class,
                Joined.class,
                Accessor.class,
                JoinedKeys.class,
                OptionalSet.class,
                LinkedOffsets.class
            })
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

    static class Accessor {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, MessageHeaderAccessor headers) {}
    }

    static class JoinedKeys {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, @Header(KafkaHeaders.RECEIVED_KEY) String keys) {}
    }

    static class OptionalSet {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, @Header(KafkaHeaders.OFFSET) Optional<Set<Long>> offsets) {}
    }

    static class LinkedOffsets {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, @Header(KafkaHeaders.OFFSET) LinkedList<Long> offsets) {}
    }
}
