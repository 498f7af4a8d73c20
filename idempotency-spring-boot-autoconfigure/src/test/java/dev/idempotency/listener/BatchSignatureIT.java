package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.lang.reflect.Type;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.BatchMessageConverter;
import org.springframework.kafka.support.converter.BatchMessagingMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.MessageBuilder;
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
                SetInMessage.class,
                JoinedInMessage.class,
                LinkedOffsets.class
            })
    void aBatchListenerThatDuplicatesCannotBeTakenOutOfIsRefused(Class<?> listener) {
        assertThatThrownBy(() -> startWith(List.of(), listener).close())
                .rootCause()
                .hasMessageContaining("batch-signature");
    }

    @Test
    void duplicatesThatCannotBeTakenOutOfWhatAConverterHasMadeOfABatchAreNotAppliedAgain() {
        try (TestApplication app = startWith(List.of(), Converted.class, "1:a", "1:a again", "2:left out", "3:c")) {
            List<String> kinds = List.of("", "-with-headers", "-with-offsets", "-message");
            kinds.forEach(kind -> app.awaitCaughtUp(this.group + kind, this.topic));
            assertThat(app.bean(Effects.class).all())
                    .containsExactlyInAnyOrderElementsOf(kinds.stream()
                            .flatMap(kind -> Stream.of("a" + kind, "c" + kind))
                            .toList());
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void keysAreNotLookedForInWhatAConverterHasMadeOfABatch() {
        try (TestApplication app = startWith(List.of(), KeysInPayloads.class, "1:a", "2:a", "3:left out", "4:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("left out");
        }
    }

    @Import({Effects.class, LeavingOut.class})
    static class KeysInPayloads {

        private final Effects effects;

        KeysInPayloads(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#payload")
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }

    @Import({Effects.class, LeavingOut.class})
    static class Converted {

        private final Effects effects;

        Converted(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-with-headers")
        @IdempotentListener
        void withHeaders(List<String> payloads, @Headers Map<String, Object> headers) {
            payloads.forEach(payload -> this.effects.happen(payload + "-with-headers"));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-with-offsets")
        @IdempotentListener
        void withOffsets(List<String> payloads, @Header(KafkaHeaders.OFFSET) List<Long> offsets) {
            payloads.forEach(payload -> this.effects.happen(payload + "-with-offsets"));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-message")
        @IdempotentListener
        void message(Message<List<String>> payloads) {
            payloads.getPayload().forEach(payload -> this.effects.happen(payload + "-message"));
        }
    }

    static class LeavingOut {

        @Bean
        static BatchMessageConverter leavesOut() {
            return new BatchMessagingMessageConverter() {

                @Override
                public Message<?> toMessage(
                        List<ConsumerRecord<?, ?>> records,
                        Acknowledgment acknowledgment,
                        Consumer<?, ?> consumer,
                        Type type) {
                    Message<?> message = super.toMessage(records, acknowledgment, consumer, type);
                    List<?> payloads = ((List<?>) message.getPayload())
                            .stream()
                                    .filter(payload -> !"left out".equals(payload))
                                    .toList();
                    return MessageBuilder.createMessage(payloads, message.getHeaders());
                }
            };
        }
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

    static class SetInMessage {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(Message<Set<String>> payloads) {}
    }

    static class JoinedInMessage {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(Message<String> payloads) {}
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
