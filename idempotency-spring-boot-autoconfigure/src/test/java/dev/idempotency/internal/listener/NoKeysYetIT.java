package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.failure.OutageRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.kafka.annotation.KafkaListener;

/** A consumer of which nobody has said where its keys are, and whose producer sets no header that it looks at. */
class NoKeysYetIT extends ApplicationTest {

    @Override
    protected int partitions() {
        return 2;
    }

    @Test
    void itStandsStillUntilItHasProcessedAMessageWithAKeyAlsoAfterARestart() {
        try (TestApplication app = start(Records.class, Failures.class, Outcomes.class)) {
            send(app, 0, null, "first");
            send(app, 0, null, "second");
            awaitStandstill(app);
        }
        try (TestApplication app = start(Records.class, Failures.class, Outcomes.class)) {
            app.awaitOnePartitionEach();
            awaitStandstill(app);
            await().untilAsserted(() -> {
                Health health = app.bean(IdempotencyHealthIndicator.class).health();
                assertThat(health.getStatus()).isEqualTo(IdempotencyHealthIndicator.DEGRADED);
                assertThat(health.getDetails()).containsKey("waitingForKeys").doesNotContainKey("waitingForDatabase");
            });
            assertThat(app.bean(Failures.class).causes()).isEmpty();
            assertThat(app.bean(Outcomes.class).missingKeys).isEmpty();

            send(app, 1, "7", "third");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("third");
            assertThat(app.bean(Failures.class).recovered())
                    .extracting(record -> (Object) record.value())
                    .as("dead-lettered as ever, since there are messages with a key")
                    .containsExactly("first", "second");
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(2);
            await().until(() -> app.bean(OutageRegistry.class).current().isEmpty());
        }
    }

    private void send(TestApplication app, int partition, String id, String value) {
        app.send(TestApplication.message(this.topic, partition, id, value));
    }

    /** It ends for a moment when a rebalance takes the partition away, until the next owner has tried. */
    private void awaitStandstill(TestApplication app) {
        OutageRegistry outages = app.bean(OutageRegistry.class);
        await().untilAsserted(
                        () -> assertThat(outages.current()).singleElement().satisfies(outage -> {
                            assertThat(outage.awaited()).isEqualTo(Awaited.KEYS);
                            assertThat(outage.cause())
                                    .contains(
                                            this.topic + "-0@0",
                                            "idempotency-key",
                                            "@IdempotentListener(key",
                                            "idempotency.key.headers",
                                            "idempotency.key.on-missing=process");
                        }));
        assertThat(app.bean(Failures.class).recovered()).isEmpty();
    }

    static class Records extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}", concurrency = "2")
        @IdempotentListener(consumer = "records")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
