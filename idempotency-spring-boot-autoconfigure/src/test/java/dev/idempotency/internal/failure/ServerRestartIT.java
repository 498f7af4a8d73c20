package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.internal.event.ConsumerOutage;
import dev.idempotency.testing.TestBroker;
import dev.idempotency.testing.TestPostgresServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.KafkaHeaders;

@Tag("slow")
class ServerRestartIT {

    private static final String TOPIC = "orders";
    private static final List<String> CONSUMERS = List.of("records", "batches", "polls");
    private static final int MAX_ATTEMPTS = 3;

    private final List<String> sent = new ArrayList<>();
    private final List<CompletableFuture<?>> sends = new ArrayList<>();
    private TestBroker broker;
    private TestPostgresServer postgres;

    @BeforeEach
    void startServers() {
        this.broker = TestBroker.start(false);
        this.broker.createTopic(TOPIC, 3);
        this.postgres = TestPostgresServer.start();
    }

    @AfterEach
    void stopServers() {
        this.postgres.close();
        this.broker.close();
    }

    @Test
    void everyMessageIsAppliedOnceOrDeadLetteredThoughServersGoDownUnderLoad() throws Exception {
        try (TestApplication app = TestApplication.start(
                this.postgres.jdbcUrl(),
                List.of(
                        "spring.kafka.bootstrap-servers=" + this.broker.bootstrapServers(),
                        "spring.kafka.consumer.max-poll-records=20",
                        "spring.datasource.hikari.connection-timeout=500",
                        "idempotency.errors.initial-interval=50ms",
                        "idempotency.errors.max-interval=500ms",
                        "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                        "idempotency.errors.outage.max-interval=500ms"),
                Listeners.class)) {
            send(app, 100);
            this.postgres.stopImmediately();
            send(app, 100);
            awaitOutages(app, Awaited.DATABASE);
            this.postgres.startAgain();
            send(app, 100);
            this.broker.kill();
            // A producer that has forgotten the topic's metadata blocks until there is a broker again.
            CompletableFuture<Void> meanwhile = CompletableFuture.runAsync(() -> send(app, 50));
            this.broker.startAgain();
            meanwhile.get(120, TimeUnit.SECONDS);
            send(app, 50);
            CompletableFuture.allOf(this.sends.toArray(CompletableFuture[]::new))
                    .get(120, TimeUnit.SECONDS);
            // There is no dead-letter topic.
            awaitOutages(app, Awaited.DEAD_LETTERS);
            this.broker.createTopic(TOPIC + "-dlt", 1);
            await().atMost(Duration.ofSeconds(90))
                    .untilAsserted(() -> assertThat(fates(app)).isEqualTo(expected()));
            assertThat(app.bean(Effects.class).counts().values()).containsOnly(1);
            assertThat(app.bean(OutageRegistry.class).current()).isEmpty();
        }
    }

    private static void awaitOutages(TestApplication app, Awaited awaited) {
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(app.bean(OutageRegistry.class).current())
                        .filteredOn(outage -> outage.awaited() == awaited)
                        .extracting(ConsumerOutage::consumer)
                        .containsAll(CONSUMERS));
    }

    private Set<String> expected() {
        return this.sent.stream()
                .flatMap(payload -> CONSUMERS.stream().map(consumer -> payload + " " + consumer))
                .collect(Collectors.toSet());
    }

    private void send(TestApplication app, int count) {
        @SuppressWarnings("unchecked")
        KafkaTemplate<String, String> template = app.bean(KafkaTemplate.class);
        for (int i = 0; i < count; i++) {
            int number = this.sent.size();
            String payload = ((number % 97 == 5) ? "poison " : (number % 50 == 7) ? "slow " : "good ") + number;
            this.sends.add(template.send(TestApplication.message(TOPIC, number % 3, payload, payload)));
            this.sent.add(payload);
        }
    }

    /**
     * Messages that were applied, or stand in the dead-letter topic, for each consumer. One that loses its partition before it
     * has committed the offset publishes its dead letter once more.
     */
    private Set<String> fates(TestApplication app) {
        Set<String> fates = new HashSet<>(app.bean(Effects.class).counts().keySet());
        for (ConsumerRecord<String, String> letter : TopicContents.of(this.broker.bootstrapServers(), TOPIC + "-dlt")) {
            byte[] group = letter.headers()
                    .lastHeader(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP)
                    .value();
            fates.add(letter.value() + " " + new String(group, StandardCharsets.UTF_8));
        }
        return fates;
    }

    static class Listeners extends HasEffects {

        @KafkaListener(topics = TOPIC, groupId = "records", concurrency = "3")
        @IdempotentListener("records")
        void onRecord(String payload) {
            work(payload, "records");
        }

        @KafkaListener(topics = TOPIC, groupId = "batches", batch = "true")
        @IdempotentListener("batches")
        void onBatch(List<String> payloads) {
            payloads.forEach(payload -> work(payload, "batches"));
        }

        @KafkaListener(topics = TOPIC, groupId = "polls")
        @IdempotentListener(value = "polls", transactionPerPoll = "true")
        void onPoll(String payload) {
            work(payload, "polls");
        }

        private void work(String payload, String consumer) {
            this.effects.happen(payload + " " + consumer);
            if (payload.startsWith("poison")) {
                throw new IllegalStateException(payload);
            }
            if (payload.startsWith("slow")) {
                this.effects.pause(Duration.ofMillis(300));
            }
        }
    }
}
