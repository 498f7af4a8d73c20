package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import dev.idempotency.testing.TestBroker;
import dev.idempotency.testing.TestPostgresServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.GroupState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;

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
            // A producer whose metadata of the topic has expired blocks until the broker is back.
            CompletableFuture<Void> meanwhile = CompletableFuture.runAsync(() -> send(app, 50));
            this.broker.startAgain();
            meanwhile.get(120, TimeUnit.SECONDS);
            send(app, 50);
            CompletableFuture.allOf(this.sends.toArray(CompletableFuture[]::new))
                    .get(120, TimeUnit.SECONDS);
            // The dead-letter topic does not exist yet.
            awaitOutages(app, Awaited.DEAD_LETTERS);
            awaitStableGroups();
            this.broker.createTopic(TOPIC + "-dlt", 1);
            await().atMost(Duration.ofSeconds(90))
                    .untilAsserted(() -> assertThat(fates(app)).isEqualTo(expected()));
            assertThat(app.bean(OutageRegistry.class).current()).isEmpty();
            // The producer knows the topic now, so it waits for the broker with a dead letter in flight.
            send(app, "deadly");
            send(app, 20);
            app.bean(LastAttempt.class).begun.get(60, TimeUnit.SECONDS);
            this.broker.kill();
            app.bean(LastAttempt.class).brokerGone.complete(null);
            this.broker.startAgain();
            // A consumer that lost its partition before the commit of the offset publishes the dead letter again.
            await().atMost(Duration.ofSeconds(90))
                    .untilAsserted(() ->
                            assertThat(fates(app).keySet()).isEqualTo(expected().keySet()));
            assertThat(app.bean(Effects.class).counts().values()).containsOnly(1);
        }
    }

    private static void awaitOutages(TestApplication app, Awaited awaited) {
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(app.bean(OutageRegistry.class).current())
                        .filteredOn(outage -> outage.awaited() == awaited)
                        .extracting(ConsumerOutage::consumer)
                        .containsAll(CONSUMERS));
    }

    /** A consumer that loses its partition before the commit of the offset would publish the dead letter again. */
    private void awaitStableGroups() {
        try (Admin admin = this.broker.admin()) {
            await("all consumers back").atMost(Duration.ofSeconds(90)).untilAsserted(() -> assertThat(
                            admin.describeConsumerGroups(CONSUMERS).all().get(30, TimeUnit.SECONDS))
                    .allSatisfy((name, group) -> {
                        assertThat(group.groupState()).isEqualTo(GroupState.STABLE);
                        assertThat(group.members())
                                .flatExtracting(member -> member.assignment().topicPartitions())
                                .hasSize(3);
                    }));
        }
    }

    private Map<String, Integer> expected() {
        Map<String, Integer> expected = new TreeMap<>();
        this.sent.forEach(payload -> CONSUMERS.forEach(consumer -> expected.put(payload + " " + consumer, 1)));
        return expected;
    }

    private void send(TestApplication app, int count) {
        for (int i = 0; i < count; i++) {
            int number = this.sent.size();
            send(app, (number % 97 == 5) ? "poison" : (number % 50 == 7) ? "slow" : "good");
        }
    }

    private void send(TestApplication app, String kind) {
        @SuppressWarnings("unchecked")
        KafkaTemplate<String, String> template = app.bean(KafkaTemplate.class);
        int number = this.sent.size();
        String payload = kind + " " + number;
        this.sends.add(template.send(TestApplication.message(TOPIC, number % 3, payload, payload)));
        this.sent.add(payload);
    }

    /** For each message and consumer, the number of effects and dead letters. */
    private Map<String, Integer> fates(TestApplication app) {
        Map<String, Integer> fates = new TreeMap<>(app.bean(Effects.class).counts());
        for (ConsumerRecord<String, String> letter : TopicContents.of(this.broker.bootstrapServers(), TOPIC + "-dlt")) {
            String group = new String(
                    letter.headers()
                            .lastHeader("kafka_dlt-original-consumer-group")
                            .value(),
                    StandardCharsets.UTF_8);
            fates.merge(letter.value() + " " + group, 1, Integer::sum);
        }
        return fates;
    }

    /** The last attempt of a message before it is dead-lettered. */
    static class LastAttempt {

        final CompletableFuture<Void> begun = new CompletableFuture<>();
        final CompletableFuture<Void> brokerGone = new CompletableFuture<>();
        private final AtomicInteger attempts = new AtomicInteger();

        void count() {
            if (this.attempts.incrementAndGet() == MAX_ATTEMPTS) {
                this.begun.complete(null);
                this.brokerGone.join();
            }
        }
    }

    @Import(LastAttempt.class)
    static class Listeners extends HasEffects {

        private final LastAttempt lastAttempt;

        Listeners(LastAttempt lastAttempt) {
            this.lastAttempt = lastAttempt;
        }

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
            if (payload.startsWith("deadly") && consumer.equals("records")) {
                this.lastAttempt.count();
            }
            if (payload.startsWith("poison") || payload.startsWith("deadly")) {
                throw new IllegalStateException(payload);
            }
            if (payload.startsWith("slow")) {
                this.effects.pause(Duration.ofMillis(300));
            }
        }
    }
}
