package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.crash.CrashingApplication.CrashPoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;

/** Real processes that really die. */
class CrashIT extends ApplicationTest {

    private static final int MESSAGES = 600;

    /** Two processes together do not come to the end. */
    private static final int MESSAGES_BEFORE_KILL = MESSAGES / 2 - 50;

    @ParameterizedTest
    @ValueSource(
            classes = {
                Listener.class,
                AtCommitListener.class,
                PollListener.class,
                VersionListener.class,
                OffsetListener.class
            })
    void aProcessThatIsKilledAppliesEveryMessageOnce(Class<?> listener) throws Exception {
        CrashingApplication.send(this.topic, MESSAGES);
        killAtWork(listener, 1);
        try (TestApplication app = start(listener)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).hasSize(MESSAGES).doesNotHaveDuplicates();
        }
    }

    @Test
    void workFromCodeOfTwoKilledProcessesIsDoneOnceAndItsResultsAreGivenAgain() throws Exception {
        killAtWork(Importer.class, 2);
        try (TestApplication app = start(Importer.class)) {
            assertThat(app.bean(Effects.class).all()).hasSize(MESSAGES).doesNotHaveDuplicates();
        }
    }

    private void killAtWork(Class<?> listener, int count) throws Exception {
        Effects effects = new Effects(new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl())));
        List<Process> processes = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                processes.add(
                        CrashingApplication.launch(this.database, this.topic, this.group, CrashPoint.KILLED, listener));
            }
            Awaitility.await("work before the kill")
                    .atMost(Duration.ofSeconds(120))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> effects.all().size() > 50);
        } finally {
            for (Process process : processes) {
                process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
            }
        }
        assertThat(effects.all()).as("killed before all was done").hasSizeLessThan(MESSAGES);
    }

    @Override
    protected TestApplication start(Class<?>... classes) {
        return start(List.of("crash=NEVER", CrashingApplication.SAME_MEMBER), classes);
    }

    abstract static class OfRecords extends Work {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        void on(String payload) {
            process(payload);
        }
    }

    @IdempotentListener
    static class Listener extends OfRecords {}

    @IdempotentListener(consumer = "at-commit", claimAtCommit = "true")
    static class AtCommitListener extends OfRecords {}

    @IdempotentListener(transactionPerPoll = "true")
    static class PollListener extends OfRecords {}

    /** The version grows from one message to the next of those that have as many digits. */
    @IdempotentListener(
            strategy = DeduplicationStrategy.VERSION,
            key = "#record.value().length()",
            version = "#record.value().substring(7)",
            transactionPerPoll = "true")
    static class VersionListener extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class OffsetListener extends OfRecords {}

    /** Claims from code, as soon as it is started. */
    static class Importer extends Work implements ApplicationRunner {

        private final IdempotentOperations operations;

        Importer(IdempotentOperations operations) {
            this.operations = operations;
        }

        @Bean
        static IdempotentConsumer imports() {
            return IdempotentConsumer.named("import");
        }

        @Override
        public void run(ApplicationArguments arguments) {
            for (int i = 0; i < MESSAGES; i++) {
                String name = "effect-" + i;
                String result = this.operations
                        .execute(new MessageId("import", name), String.class, () -> {
                            process(name);
                            return "did " + name;
                        })
                        .result();
                assertThat(result).isEqualTo("did " + name);
            }
        }
    }

    abstract static class Work extends HasEffects {

        private final Map<Thread, Integer> calls = new ConcurrentHashMap<>();

        @Value("${crash}")
        private CrashPoint crash;

        final void process(String payload) {
            this.effects.happen(payload);
            int call = this.calls.merge(Thread.currentThread(), 1, Integer::sum);
            if (call > MESSAGES_BEFORE_KILL && this.crash == CrashPoint.KILLED) {
                new CompletableFuture<>().join();
            }
        }
    }
}
