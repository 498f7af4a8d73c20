package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.BrokenCommits;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Random versions of some entities, in random order and with repetitions, and random failures of every kind: at the end of it
 * an entity has had exactly those versions that were newer than all before them, each once and in order.
 */
class VersionFuzzIT extends ApplicationTest {

    private static final int MESSAGES = 400;
    private static final int ENTITIES = 9;

    @Override
    protected int partitions() {
        return 3;
    }

    @ParameterizedTest
    @CsvSource({"Batches, batch, manual", "Polls, single, batch", "PollsThatAreCut, single, record"})
    void whatIsAppliedIsWhatAModelSays(String listener, String type, String ackMode) throws Exception {
        Random random = new Random(11);
        try (TestApplication app = start(
                List.of(
                        "spring.kafka.listener.type=" + type,
                        "spring.kafka.listener.ack-mode=" + ackMode,
                        "spring.kafka.consumer.max-poll-records=20",
                        "spring.kafka.listener.concurrency=2",
                        "idempotency.errors.initial-interval=1ms",
                        "idempotency.errors.max-interval=20ms",
                        "idempotency.errors.max-attempts=30",
                        "idempotency.errors.outage.max-interval=20ms"),
                Class.forName(VersionFuzzIT.class.getName() + "$" + listener))) {
            app.jdbc().execute("alter table effect add column place bigserial");
            Map<Integer, Integer> newest = new HashMap<>();
            Map<Integer, List<String>> expected = new HashMap<>();
            for (int i = 0; i < MESSAGES; i++) {
                int entity = random.nextInt(ENTITIES);
                int version = 1 + i / 10 + random.nextInt(8);
                String payload = entity + ":" + version;
                app.send(new ProducerRecord<>(this.topic, entity % partitions(), (String) null, payload));
                if (version > newest.getOrDefault(entity, 0)) {
                    newest.put(entity, version);
                    expected.computeIfAbsent(entity, key -> new ArrayList<>()).add(payload);
                }
            }
            app.awaitCaughtUp(this.group, this.topic);
            for (int entity = 0; entity < ENTITIES; entity++) {
                assertThat(app.jdbc()
                                .queryForList(
                                        "select name from effect where name like ? order by place",
                                        String.class,
                                        entity + ":%"))
                        .isEqualTo(expected.get(entity));
            }
            assertThat(app.jdbc().queryForObject("select sum(version) from idempotency_version", Integer.class))
                    .isEqualTo(
                            newest.values().stream().mapToInt(Integer::intValue).sum());
        }
    }

    static class Batches extends BatchFuzzIT.RandomlyFailing {

        Batches(Effects effects, BrokenCommits commits) {
            super(effects, commits);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#record.value().split(':')[0]",
                version = "#record.value().split(':')[1]")
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            processOrFail(payloads);
            if (oneIn(8)) {
                acknowledgment.nack(oneOf(payloads), Duration.ofMillis(1));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    /** In one transaction per poll. */
    static class Polls extends BatchFuzzIT.RandomlyFailing {

        Polls(Effects effects, BrokenCommits commits) {
            super(effects, commits);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#record.value().split(':')[0]",
                version = "#record.value().split(':')[1]",
                transactionPerPoll = "true")
        void on(String payload) {
            process(payload);
            if (oneIn(20)) {
                throw new IllegalStateException("random failure");
            }
            if (oneIn(20)) {
                failAtCommit();
            }
        }
    }

    /** In one transaction per poll, on a connection that is cut at times. */
    static class PollsThatAreCut extends BatchFuzzIT.RandomlyFailing {

        private final JdbcTemplate jdbc;

        PollsThatAreCut(Effects effects, BrokenCommits commits, JdbcTemplate jdbc) {
            super(effects, commits);
            this.jdbc = jdbc;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#record.value().split(':')[0]",
                version = "#record.value().split(':')[1]",
                transactionPerPoll = "true")
        void on(String payload) {
            process(payload);
            if (oneIn(20)) {
                throw new IllegalStateException("random failure");
            }
            if (oneIn(40)) {
                failAtCommit();
            }
            if (oneIn(40)) {
                this.jdbc.execute("select pg_terminate_backend(pg_backend_pid())");
            }
        }
    }
}
