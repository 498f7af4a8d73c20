package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestKafka;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.RecordInterceptor;

/**
 * Polls whose records are claimed one after the other, on a database that ends a transaction by itself and whose driver does
 * not tell.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SharedTransactionIT {

    static final List<String> KINDS = List.of("ids", "none", "offsets", "versions");

    private final String suffix = TestKafka.uniqueName("");

    private TestApplication app;

    @BeforeAll
    void start() {
        KINDS.forEach(kind -> TestKafka.createTopics(1, kind + this.suffix));
        this.app = TestApplication.start(
                "jdbc:h2:mem:shared-transaction;DB_CLOSE_DELAY=-1",
                List.of(
                        "suffix=" + this.suffix,
                        "idempotency.key.on-missing=process",
                        "idempotency.transaction-per-poll=true",
                        "idempotency.errors.initial-interval=10ms"),
                Listeners.class);
    }

    @AfterAll
    void stop() {
        if (this.app != null) {
            this.app.close();
        }
    }

    /** Delivers messages as one poll: versions 1, 2 … of one entity, with that number in front of the payload. */
    private List<String> deliver(String kind, String... payloads) {
        var container = this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(kind);
        container.stop();
        List<String> calls = this.app.bean(Listeners.class).calls(kind);
        calls.clear();
        for (int i = 0; i < payloads.length; i++) {
            String name = kind + payloads[0];
            ProducerRecord<Object, Object> record =
                    new ProducerRecord<>(kind + this.suffix, name, (i + 1) + " " + kind + payloads[i]);
            if (!kind.equals("none")) {
                record.headers().add("message-id", (name + i).getBytes());
            }
            this.app.send(record);
        }
        container.start();
        this.app.awaitCaughtUp(kind + this.suffix, kind + this.suffix);
        return calls;
    }

    private List<String> effects(String word) {
        return this.app.bean(Effects.class).all().stream()
                .filter(effect -> effect.contains(word))
                .toList();
    }

    @ParameterizedTest
    @FieldSource("KINDS")
    void aPollIsCommittedAtOnceAndNothingOfItsWatchStays(String kind) {
        assertThat(deliver(kind, "-a", "-b", "-c"))
                .containsExactly("1 " + kind + "-a", "2 " + kind + "-b", "3 " + kind + "-c");
        assertThat(effects(kind + "-")).hasSize(3);
        assertThat(this.app
                        .jdbc()
                        .queryForList(
                                "select message_id from idempotency_processed where message_id like '%witness%'",
                                String.class))
                .isEmpty();
    }

    /** Claims and effects before it are gone, those after it are not: the transaction is not the same any more. */
    @ParameterizedTest
    @FieldSource("KINDS")
    void aPollWhoseTransactionTheDatabaseGivesUpIsProcessedAgain(String kind) {
        assertThat(deliver(kind, "+a", "+given up", "+c")).hasSize(6);
        assertThat(effects(kind + "+"))
                .containsExactlyInAnyOrder("1 " + kind + "+a", "2 " + kind + "+given up", "3 " + kind + "+c");
    }

    static class AnyInterceptor implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            return record;
        }
    }

    @Import({Effects.class, AnyInterceptor.class})
    static class Listeners {

        private final Map<String, List<String>> calls = new ConcurrentHashMap<>();

        private final Set<String> givenUp = ConcurrentHashMap.newKeySet();
        private final Effects effects;
        private final JdbcTemplate jdbc;

        Listeners(Effects effects, JdbcTemplate jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
            KINDS.forEach(kind -> this.calls.put(kind, new CopyOnWriteArrayList<>()));
        }

        List<String> calls(String kind) {
            return this.calls.get(kind);
        }

        @KafkaListener(id = "ids", topics = "ids${suffix}", groupId = "ids${suffix}")
        @IdempotentListener(consumer = "ids")
        void ids(String payload) {
            happen("ids", payload);
        }

        @KafkaListener(id = "none", topics = "none${suffix}", groupId = "none${suffix}")
        @IdempotentListener(consumer = "none")
        void none(String payload) {
            happen("none", payload);
        }

        @KafkaListener(id = "offsets", topics = "offsets${suffix}", groupId = "offsets${suffix}")
        @IdempotentListener(consumer = "offsets", strategy = Strategy.OFFSET)
        void offsets(String payload) {
            happen("offsets", payload);
        }

        @KafkaListener(id = "versions", topics = "versions${suffix}", groupId = "versions${suffix}")
        @IdempotentListener(
                consumer = "versions",
                strategy = Strategy.VERSION,
                key = "#record.key()",
                version = "#record.value().substring(0, 1)")
        void versions(String payload) {
            happen("versions", payload);
        }

        private void happen(String kind, String payload) {
            this.calls.get(kind).add(payload);
            if (payload.endsWith("given up") && this.givenUp.add(payload)) {
                this.jdbc.execute("rollback");
            }
            this.effects.happen(payload);
        }
    }
}
