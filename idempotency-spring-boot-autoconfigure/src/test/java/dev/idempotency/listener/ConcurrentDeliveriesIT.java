package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same message in two partitions, which two consumer threads handle at the same time. */
class ConcurrentDeliveriesIT extends ApplicationTest {

    @Override
    protected int partitions() {
        return 2;
    }

    private void sendToBothPartitions(TestApplication app, String id) {
        app.awaitOnePartitionEach();
        for (int partition = 0; partition < 2; partition++) {
            app.send(new ProducerRecord<>(
                    this.topic,
                    partition,
                    (String) null,
                    "effect",
                    List.of(new RecordHeader("message-id", id.getBytes(StandardCharsets.UTF_8)))));
        }
    }

    @Test
    void theSecondWaitsForTheFirstAndIsADuplicateOnceThatHasCommitted() {
        try (TestApplication app = start(WaitsForTheOther.class, Outcomes.class)) {
            sendToBothPartitions(app, "1");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("effect");
            assertThat(app.bean(WaitsForTheOther.class).calls()).isOne();
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
        }
    }

    @Test
    void theSecondRunsIfTheFirstRollsBack() {
        try (TestApplication app = start(List.of("first-fails=true"), WaitsForTheOther.class, Failures.class)) {
            sendToBothPartitions(app, "1");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("effect");
            assertThat(app.bean(WaitsForTheOther.class).calls()).isEqualTo(2);
        }
    }

    @Test
    void aWaitBeyondTheTimeoutIsAFailureThatIsRetried() {
        try (TestApplication app = start(
                List.of("idempotency.claim.timeout=1s", "wait-for-failure=true"),
                WaitsForTheOther.class,
                Failures.class,
                Outcomes.class)) {
            sendToBothPartitions(app, "1");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("effect");
            assertThat(app.bean(Outcomes.class).failedClaims).isNotEmpty().allSatisfy(reason -> assertThat(reason)
                    .isInstanceOf(ClaimTimeoutException.class));
            Failures failures = app.bean(Failures.class);
            assertThat(failures.causes()).as("it is nobody's fault").isEmpty();
            assertThat(failures.recovered()).isEmpty();
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
        }
    }

    @Import(Effects.class)
    static class WaitsForTheOther {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;
        private final JdbcTemplate jdbc;
        private final Environment environment;
        private final ObjectProvider<Outcomes> outcomes;

        WaitsForTheOther(
                Effects effects, JdbcTemplate jdbc, Environment environment, ObjectProvider<Outcomes> outcomes) {
            this.effects = effects;
            this.jdbc = jdbc;
            this.environment = environment;
            this.outcomes = outcomes;
        }

        int calls() {
            return this.calls.get();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", concurrency = "2")
        @IdempotentListener
        void on(String payload) {
            boolean first = this.calls.incrementAndGet() == 1;
            this.effects.happen(payload);
            if (first) {
                Awaitility.await("the other delivery")
                        .atMost(Duration.ofSeconds(60))
                        .until(this::otherHasArrived);
                if (this.environment.getProperty("first-fails", Boolean.class, false)) {
                    throw new IllegalStateException("the first one fails");
                }
            }
        }

        private boolean otherHasArrived() {
            if (this.environment.getProperty("wait-for-failure", Boolean.class, false)) {
                return !this.outcomes.getObject().failedClaims.isEmpty();
            }
            return this.jdbc.queryForObject(
                            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
                            Integer.class)
                    > 0;
        }
    }
}
