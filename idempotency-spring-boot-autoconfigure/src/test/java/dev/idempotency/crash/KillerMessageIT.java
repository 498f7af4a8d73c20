package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.ProcessKilledException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

/** A message that ends the process, or the container, whenever a listener with an inbox is called with it. */
class KillerMessageIT extends ApplicationTest {

    private static final int MAX_ATTEMPTS = 2;
    private static final String ATTEMPTS = "idempotency.errors.max-attempts=" + MAX_ATTEMPTS;

    @Test
    void aMessageThatKillsItsJvmIsGivenUpAndAllOthersAreAppliedOnce() throws Exception {
        sendKillerBetweenOthers();
        // The first JVM has applied what stands before it by then, so that it trusts the partition.
        for (int death = 0; death < MAX_ATTEMPTS + 1; death++) {
            assertThat(starts()).isEqualTo(Math.max(0, death - 1));
            Process process = ChildJvm.start(Killed.class, "killer", this.database.jdbcUrl(), this.topic, this.group);
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(137);
        }
        try (TestApplication app = start(properties("throw"), RecordListener.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThatOnlyTheKillerWasGivenUp(app);
            InboxEntry entry =
                    app.bean(Inbox.class).find(new MessageId("ledger", "2")).entry();
            assertThat(entry.attempts()).isEqualTo(MAX_ATTEMPTS);
            assertThat(app.bean(Effects.class).counts()).doesNotContainKey("kill");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {RecordListener.class, BatchListener.class, PollListener.class})
    void aMessageThatRunsOutOfMemoryIsGivenUpWhereverItStands(Class<?> listener) {
        sendKillerBetweenOthers();
        try (TestApplication app = start(properties("throw"), listener)) {
            MessageListenerContainer container = app.bean(KafkaListenerEndpointRegistry.class)
                    .getListenerContainers()
                    .iterator()
                    .next();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        if (!container.isRunning()) {
                            container.start();
                        }
                        return TestApplication.endOffsets(this.topic)
                                .equals(TestApplication.committedOffsets(this.group, this.topic));
                    });
            assertThatOnlyTheKillerWasGivenUp(app);
            assertThat(app.bean(Work.class).kills()).isEqualTo(MAX_ATTEMPTS + 1);
            assertThat(starts()).isZero();
        }
    }

    private void sendKillerBetweenOthers() {
        try (TestApplication app = start()) {
            app.send(this.topic, "1", "before");
            app.send(this.topic, "2", "kill");
            app.send(this.topic, "3", "after");
            app.send(this.topic, "4", "last");
        }
    }

    private void assertThatOnlyTheKillerWasGivenUp(TestApplication app) {
        assertThat(app.bean(Effects.class).all()).containsExactlyInAnyOrder("before", "after", "last");
        assertThat(app.bean(Inbox.class).find(new MessageId("ledger", "2")).entry())
                .satisfies(entry -> assertThat(entry.status()).isEqualTo(InboxStatus.FAILED))
                .satisfies(entry -> assertThat(entry.lastError())
                        .contains("called with " + this.topic + "-0@1 2 times, and none of these calls has ended"));
        List<ConsumerRecord<String, String>> deadLetters = TopicContents.of(this.topic + "-dlt");
        assertThat(deadLetters).singleElement().satisfies(letter -> assertThat(letter.value())
                .isEqualTo("kill"));
        assertThat(new String(
                        deadLetters
                                .get(0)
                                .headers()
                                .lastHeader(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)
                                .value(),
                        StandardCharsets.UTF_8))
                .contains(ProcessKilledException.class.getName());
    }

    private int starts() {
        return new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()))
                .queryForObject("select coalesce(sum(starts), 0) from idempotency_inbox_starts", Integer.class);
    }

    private static List<String> properties(String end) {
        return List.of(CrashingApplication.SAME_MEMBER, ATTEMPTS, "end=" + end);
    }

    /** Runs in a JVM of its own, so that it can die. */
    static final class Killed {

        private Killed() {}

        public static void main(String[] arguments) {
            TestApplication.start(
                    arguments[0],
                    List.of(
                            CrashingApplication.SAME_MEMBER,
                            ATTEMPTS,
                            "end=halt",
                            "topic=" + arguments[1],
                            "group=" + arguments[2]),
                    RecordListener.class);
        }
    }

    @Import(Effects.class)
    abstract static class Work {

        private final AtomicInteger kills = new AtomicInteger();
        private final Effects effects;
        private final String end;

        Work(Effects effects, String end) {
            this.effects = effects;
            this.end = end;
        }

        int kills() {
            return this.kills.get();
        }

        final void process(String payload) {
            this.effects.happen(payload);
            if (payload.equals("kill")) {
                this.kills.incrementAndGet();
                if (this.end.equals("halt")) {
                    Runtime.getRuntime().halt(137);
                }
                throw new OutOfMemoryError("told to");
            }
        }
    }

    static class RecordListener extends Work {

        RecordListener(Effects effects, @Value("${end}") String end) {
            super(effects, end);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "ledger", inbox = true)
        void on(String payload) {
            process(payload);
        }
    }

    static class BatchListener extends Work {

        BatchListener(Effects effects, @Value("${end}") String end) {
            super(effects, end);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", batch = "true")
        @IdempotentListener(consumer = "ledger", inbox = true)
        void on(List<String> payloads) {
            payloads.forEach(this::process);
        }
    }

    static class PollListener extends Work {

        PollListener(Effects effects, @Value("${end}") String end) {
            super(effects, end);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "ledger", inbox = true, transactionPerPoll = true)
        void on(String payload) {
            process(payload);
        }
    }
}
