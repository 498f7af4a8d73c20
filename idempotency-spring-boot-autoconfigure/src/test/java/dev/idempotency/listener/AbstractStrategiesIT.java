package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Every strategy with every way of delivery, through a real listener on one of the databases: what fails is rolled back and
 * comes again, and what was processed does not.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractStrategiesIT {

    private final String suffix = TestKafka.uniqueName("");

    private TestApplication app;

    abstract String jdbcUrl();

    Stream<String> strategies() {
        return Stream.of("offset", "version");
    }

    Class<?> listeners() {
        return Listeners.class;
    }

    final Stream<String> kinds() {
        return strategies().flatMap(strategy -> Stream.of("Records", "Batches").map(way -> strategy + way));
    }

    @BeforeAll
    void start() {
        String url = jdbcUrl();
        TestKafka.createTopics(2, kinds().map(kind -> kind + this.suffix).toArray(String[]::new));
        this.app = TestApplication.start(
                url,
                List.of(
                        "suffix=" + this.suffix,
                        "spring.kafka.listener.auto-startup=false",
                        "spring.kafka.listener.concurrency=2",
                        "idempotency.errors.initial-interval=10ms",
                        "idempotency.errors.max-interval=20ms"),
                listeners(),
                Effects.class);
    }

    @AfterAll
    void stop() {
        if (this.app != null) {
            this.app.close();
        }
    }

    /** A payload is an entity and its version; one with an exclamation mark fails at first. */
    @ParameterizedTest
    @MethodSource("kinds")
    void whatFailsComesAgainAndWhatWasProcessedDoesNot(String kind) {
        String topic = kind + this.suffix;
        MessageListenerContainer container =
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(kind);
        send(topic, 0, "a:1", "b:1!", "c:1", "c:2");
        send(topic, 1, "d:1", "e:1", "f:1!");
        container.start();
        this.app.awaitCaughtUp(topic, topic);
        List<String> once = new ArrayList<>(List.of("a:1", "b:1!", "c:1", "c:2", "d:1", "e:1", "f:1!"));
        assertThat(effectsOf(kind)).isEqualTo(once);

        container.stop();
        TestApplication.commitBeginning(topic, topic);
        if (!kind.startsWith("offset")) {
            send(topic, 1, "a:1", "f:1!");
        }
        send(topic, 0, "g:1", "h:1!");
        once.addAll(List.of("g:1", "h:1!"));
        container.start();
        this.app.awaitCaughtUp(topic, topic);
        assertThat(effectsOf(kind)).isEqualTo(once);

        container.stop();
        send(topic, 0, "i:1", "j:1", "k:1");
        once.addAll(List.of("i:1", "j:1", "k:1"));
        container.start();
        this.app.awaitCaughtUp(topic, topic);
        container.stop();
        assertThat(effectsOf(kind)).isEqualTo(once);
        assertThat(TopicContents.values(topic + "-dlt")).isEmpty();
        assertThat(this.app
                        .jdbc()
                        .queryForList("select message_id from idempotency_processed where consumer_id = ?", kind))
                .as("nothing is left of looks at transactions")
                .isEmpty();
    }

    private List<String> effectsOf(String kind) {
        return this.app.bean(Effects.class).all().stream()
                .filter(effect -> effect.startsWith(kind + " "))
                .map(effect -> effect.substring(kind.length() + 1))
                .toList();
    }

    private void send(String topic, int partition, String... payloads) {
        for (String payload : payloads) {
            this.app.send(new ProducerRecord<>(topic, partition, null, payload));
        }
    }

    static class Listeners {

        private final Effects effects;
        private final Set<String> failed = ConcurrentHashMap.newKeySet();

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(id = "offsetRecords", topics = "offsetRecords${suffix}", groupId = "offsetRecords${suffix}")
        @IdempotentListener(consumer = "offsetRecords", strategy = Strategy.OFFSET)
        void offsetRecords(String payload) {
            happen("offsetRecords", payload);
        }

        @KafkaListener(
                id = "offsetBatches",
                topics = "offsetBatches${suffix}",
                groupId = "offsetBatches${suffix}",
                batch = "true")
        @IdempotentListener(consumer = "offsetBatches", strategy = Strategy.OFFSET)
        void offsetBatches(List<String> payloads) {
            payloads.forEach(payload -> happen("offsetBatches", payload));
        }

        @KafkaListener(id = "versionRecords", topics = "versionRecords${suffix}", groupId = "versionRecords${suffix}")
        @IdempotentListener(
                consumer = "versionRecords",
                strategy = Strategy.VERSION,
                key = "#payload.split(':')[0]",
                version = "#payload.split(':')[1].replace('!', '')")
        void versionRecords(String payload) {
            happen("versionRecords", payload);
        }

        @KafkaListener(
                id = "versionBatches",
                topics = "versionBatches${suffix}",
                groupId = "versionBatches${suffix}",
                batch = "true")
        @IdempotentListener(
                consumer = "versionBatches",
                strategy = Strategy.VERSION,
                key = "#payload.split(':')[0]",
                version = "#payload.split(':')[1].replace('!', '')")
        void versionBatches(List<String> payloads) {
            payloads.forEach(payload -> happen("versionBatches", payload));
        }

        final void happen(String kind, String payload) {
            this.effects.happen(kind + " " + payload);
            if (payload.endsWith("!") && this.failed.add(kind + payload)) {
                throw new IllegalStateException(payload);
            }
        }
    }
}
