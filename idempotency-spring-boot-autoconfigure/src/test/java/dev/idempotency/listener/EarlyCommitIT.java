package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestMariaDb;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** Some databases commit a listener's transaction, and the claim in it, before certain statements: the listener may fail since. */
class EarlyCommitIT {

    private static final List<String> KINDS = List.of("records", "batches", "polls", "offsets", "versions");
    private static final List<String> PAYLOADS = List.of("fails 1", "b 2", "c 3");

    @Test
    void aListenerThatFailsAfterH2HasCommittedIsCalledAgain() {
        assertAppliedOnce("jdbc:h2:mem:early;DB_CLOSE_DELAY=-1", Truncating.class);
    }

    @Test
    void aListenerWhoseProcedureFailsInATransactionOfItsOwnIsCalledAgain() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "No MariaDB server starts here");
        assertAppliedOnce(url.get(), CallingProcedure.class);
    }

    @Test
    void theClaimIsTakenBackOnceTheDatabaseAnswers() {
        String suffix = TestKafka.uniqueName("");
        TestKafka.createTopics(1, KINDS.stream().map(kind -> kind + suffix).toArray(String[]::new));
        try (TestApplication app = start("jdbc:h2:mem:silent;DB_CLOSE_DELAY=-1", suffix, Renaming.class)) {
            app.send("records" + suffix, "fails 1", "records fails 1");
            OutageRegistry outages = app.bean(OutageRegistry.class);
            await().until(() -> !outages.current().isEmpty());
            app.jdbc().execute("alter table gone rename to idempotency_processed");
            app.awaitCaughtUp("records" + suffix, "records" + suffix);
            assertThat(app.bean(Effects.class).all()).containsExactly("records fails 1");
            assertThat(app.jdbc().queryForList("select message_id from idempotency_processed", String.class))
                    .containsExactly("fails 1");
        }
    }

    private static TestApplication start(String url, String suffix, Class<? extends Work> work) {
        List<String> properties = List.of(
                "suffix=" + suffix,
                "idempotency.cleanup.interval=-",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.outage.max-interval=100ms");
        return TestApplication.start(url, properties, Listeners.class, work);
    }

    private static void assertAppliedOnce(String url, Class<? extends Work> work) {
        String suffix = TestKafka.uniqueName("");
        TestKafka.createTopics(1, KINDS.stream().map(kind -> kind + suffix).toArray(String[]::new));
        try (TestApplication app = start(url, suffix, work)) {
            for (String kind : KINDS) {
                // The one that fails comes first: what is done before it in its transaction would be done twice.
                for (String payload : PAYLOADS) {
                    app.send(kind + suffix, payload, kind + " " + payload);
                }
            }
            assertThatThrownBy(() -> app.bean(Listeners.class).operate("operations fails 1"))
                    .isInstanceOf(RuntimeException.class);
            app.bean(Listeners.class).operate("operations fails 1");
            app.bean(Listeners.class).operate("operations fails 1");
            for (String kind : KINDS) {
                app.awaitCaughtUp(kind + suffix, kind + suffix);
                assertThat(TopicContents.values(kind + suffix + "-dlt")).isEmpty();
            }
            assertThat(app.bean(Effects.class).all())
                    .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                    Stream.of("operations fails 1"),
                                    KINDS.stream()
                                            .flatMap(kind -> PAYLOADS.stream().map(payload -> kind + " " + payload)))
                            .toList());
            assertThat(app.jdbc().queryForList("select message_id from idempotency_processed", String.class))
                    .noneMatch(id -> id.startsWith("idempotency-witness"));
        }
    }

    /** Applies a message, after what commits the transaction that is open. */
    interface Work {

        void apply(String payload, boolean failing);
    }

    @Import(Effects.class)
    static class Truncating implements Work {

        private final JdbcTemplate jdbc;
        private final Effects effects;

        Truncating(JdbcTemplate jdbc, Effects effects) {
            this.jdbc = jdbc;
            this.effects = effects;
            jdbc.execute("create table staging (id integer)");
        }

        @Override
        public void apply(String payload, boolean failing) {
            this.jdbc.execute("truncate table staging");
            this.effects.happen(payload);
            if (failing) {
                throw new IllegalStateException("the first time");
            }
        }
    }

    /** What it does commits, and leaves the claim where nobody finds it. */
    @Import(Effects.class)
    static class Renaming implements Work {

        private final JdbcTemplate jdbc;
        private final Effects effects;

        Renaming(JdbcTemplate jdbc, Effects effects) {
            this.jdbc = jdbc;
            this.effects = effects;
        }

        @Override
        public void apply(String payload, boolean failing) {
            if (failing) {
                this.jdbc.execute("alter table idempotency_processed rename to gone");
                throw new IllegalStateException("the first time");
            }
            this.effects.happen(payload);
        }
    }

    @Import(Effects.class)
    static class CallingProcedure implements Work {

        private final JdbcTemplate jdbc;

        CallingProcedure(JdbcTemplate jdbc, Effects effects) {
            this.jdbc = jdbc;
            jdbc.execute("""
                    create procedure apply_message(in payload varchar(100), in failing boolean)
                    begin
                        declare exit handler for sqlexception
                        begin
                            rollback;
                            resignal;
                        end;
                        start transaction;
                        insert into effect (name) values (payload);
                        if failing then
                            signal sqlstate '45000' set message_text = 'the first time';
                        end if;
                        commit;
                    end
                    """);
        }

        @Override
        public void apply(String payload, boolean failing) {
            this.jdbc.update("call apply_message(?, ?)", payload, failing);
        }
    }

    static class Listeners {

        private final Set<String> called = ConcurrentHashMap.newKeySet();
        private final Work work;
        private final IdempotentOperations operations;

        Listeners(Work work, IdempotentOperations operations) {
            this.work = work;
            this.operations = operations;
        }

        @Bean
        static IdempotentConsumer operations() {
            return IdempotentConsumer.named("operations");
        }

        private void process(String payload) {
            this.work.apply(payload, payload.contains("fails") && this.called.add(payload));
        }

        void operate(String payload) {
            this.operations.execute(MessageId.of("operations", payload), () -> process(payload));
        }

        @KafkaListener(topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener("records")
        void onRecord(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener("batches")
        void onBatch(List<String> payloads) {
            payloads.forEach(this::process);
        }

        @KafkaListener(topics = "polls${suffix}", groupId = "polls${suffix}")
        @IdempotentListener(value = "polls", transactionPerPoll = "true")
        void onPoll(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "offsets${suffix}", groupId = "offsets${suffix}")
        @IdempotentListener(value = "offsets", strategy = Strategy.OFFSET)
        void onOffset(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "versions${suffix}", groupId = "versions${suffix}")
        @IdempotentListener(
                value = "versions",
                strategy = Strategy.VERSION,
                key = "#payload.split(' ')[1]",
                version = "#payload.split(' ')[2]")
        void onVersion(String payload) {
            process(payload);
        }
    }
}
