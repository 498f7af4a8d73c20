package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.BatchListenerFailedException;

/** Many messages with few ids, and listeners that fail at random: what becomes of each is what a simple model says. */
class ConflictFuzzIT extends SharedApplicationTest {

    private static final int MESSAGES = 250;
    private static final int IDS = 50;

    @BeforeAll
    void start() {
        createTopics(1, "record", "batch", "poll");
        start(
                Listeners.class,
                "idempotency.conflicts=fail",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-interval=5ms",
                "idempotency.errors.max-attempts=50",
                "spring.kafka.consumer.max-poll-records=25",
                "spring.kafka.producer.properties.linger.ms=5");
    }

    @ParameterizedTest
    @ValueSource(strings = {"record", "batch", "poll"})
    void theFirstOfAnIdIsAppliedItsCopiesAreDroppedAndOthersAreDeadLettered(String kind) {
        Random random = new Random(kind.hashCode());
        Map<String, String> first = new HashMap<>();
        List<String> deadLetters = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            String id = "id-" + random.nextInt(IDS);
            String payload = kind + " " + id + " version " + ((random.nextInt(6) == 0) ? random.nextInt(3) : 0);
            String applied = first.putIfAbsent(id, payload);
            if (applied != null && !applied.equals(payload)) {
                deadLetters.add(payload);
            }
            send(kind, id, payload);
        }
        this.app.bean(KafkaTemplate.class).flush();
        awaitCaughtUp(kind);
        List<String> expected = new ArrayList<>(first.values());
        Collections.sort(expected);
        assertThat(deadLetters).hasSizeGreaterThan(20);
        assertThat(effectsOf(kind)).isEqualTo(expected);
        assertThat(TopicContents.values(topic(kind) + "-dlt")).isEqualTo(deadLetters);
    }

    /** Without waiting, so that there are batches. */
    @SuppressWarnings("unchecked") // Spring Boot's template takes whatever its serializers take: here, text.
    private void send(String kind, String id, String payload) {
        ProducerRecord<String, String> message = new ProducerRecord<>(topic(kind), payload);
        message.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        ((KafkaTemplate<String, String>) this.app.bean(KafkaTemplate.class)).send(message);
    }

    @Import(Effects.class)
    static class Listeners {

        private final Effects effects;
        private final Random random = new Random(7);

        Listeners(Effects effects) {
            this.effects = effects;
        }

        private boolean oneIn(int many) {
            synchronized (this.random) {
                return this.random.nextInt(many) == 0;
            }
        }

        private void happen(String payload) {
            this.effects.happen(payload);
            if (oneIn(40)) {
                throw new IllegalStateException("random failure");
            }
        }

        @KafkaListener(topics = "record${suffix}", groupId = "record${suffix}")
        @IdempotentListener("record")
        void record(String payload) {
            happen(payload);
        }

        @KafkaListener(topics = "batch${suffix}", groupId = "batch${suffix}", batch = "true")
        @IdempotentListener("batch")
        void batch(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                try {
                    happen(payloads.get(i));
                } catch (IllegalStateException ex) {
                    throw new BatchListenerFailedException("random record", ex, i);
                }
            }
            if (oneIn(10)) {
                throw new IllegalStateException("random batch");
            }
        }

        @KafkaListener(topics = "poll${suffix}", groupId = "poll${suffix}")
        @IdempotentListener(consumer = "poll", transactionPerPoll = "true")
        void poll(String payload) {
            happen(payload);
        }
    }
}
