package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.RoundTrips;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.transaction.annotation.Transactional;

/** The number of round trips per delivery. A raw listener has two: its insert and the commit. */
class RoundTripsIT {

    private static final int RAW = 2;
    private static final int MESSAGES = 200;
    private static final int CONNECTIONS = 4;
    private static final String ALIVE_WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

    private static final String TOPIC = TestKafka.createTopic("round-trips", 1);
    private static TestDatabase database;
    private static RoundTrips roundTrips;
    private static TestApplication app;

    @BeforeAll
    static void start() {
        database = TestPostgres.createDatabase();
        roundTrips = new RoundTrips(database.jdbcUrl());
        // The pool does not check whether an idle connection is still alive.
        System.setProperty(ALIVE_WINDOW, "3600000");
        app = TestApplication.start(
                roundTrips.jdbcUrl(),
                List.of(
                        "topic=" + TOPIC,
                        "spring.kafka.listener.auto-startup=false",
                        "spring.datasource.hikari.maximum-pool-size=" + CONNECTIONS,
                        "idempotency.cleanup.enabled=false",
                        "spring.kafka.consumer.max-poll-records=" + MESSAGES,
                        "spring.kafka.consumer.fetch-min-size=20KB"),
                Listeners.class);
        // The round trips of a connection that is opened later would be counted for a delivery.
        HikariPoolMXBean pool = app.bean(HikariDataSource.class).getHikariPoolMXBean();
        Awaitility.await().until(() -> pool.getTotalConnections() == CONNECTIONS);
        sendAll();
    }

    /** Sends all messages without waiting for each acknowledgment. */
    @SuppressWarnings("unchecked") // Spring Boot's template takes whatever its serializers take: here, text.
    private static void sendAll() {
        KafkaTemplate<String, String> kafka = app.bean(KafkaTemplate.class);
        for (int i = 0; i < MESSAGES; i++) {
            kafka.send(TestApplication.message(TOPIC, null, "message-" + i, "payload " + i + "x".repeat(100)));
        }
        kafka.flush();
    }

    @AfterAll
    static void stop() {
        app.close();
        System.clearProperty(ALIVE_WINDOW);
        roundTrips.close();
        database.close();
    }

    @ParameterizedTest
    @CsvSource({"raw, 0", "record, 1", "offset, 1", "version, 1", "constraint, 0", "at-commit, 0"})
    void aRecordListenerWaitsAtMostOnceMoreThanARawOne(String listener, int more) {
        assertThat(roundTripsOf(listener)).hasSize(MESSAGES).containsOnly(RAW + more);
    }

    @ParameterizedTest
    @CsvSource({"raw-batch, 0", "batch, 1", "offset-batch, 1", "version-batch, 1"})
    void soDoesABatchListenerWhateverTheSizeOfTheBatch(String listener, int more) {
        assertThat(roundTripsOf(listener)).isNotEmpty().containsOnly(RAW + more);
        assertThat(app.bean(Effects.class).all()).contains(listener + " of " + MESSAGES);
    }

    @Test
    void aTransactionPerPollWaitsForEachInsertAndTwiceMore() {
        assertThat(roundTripsOf("poll")).containsExactly(MESSAGES + RAW);
    }

    @Test
    void aLockCostsOneMoreARecordABatchAndAPoll() {
        assertThat(roundTripsOf("lock")).hasSize(MESSAGES).containsOnly(RAW + 2);
        assertThat(roundTripsOf("lock-batch")).isNotEmpty().containsOnly(RAW + 2);
        assertThat(roundTripsOf("lock-poll")).containsExactly(MESSAGES + RAW + 1);
    }

    @Test
    void anInboxCostsOneMoreARecordAndAFewABatch() {
        // The first delivery after a start is not compared.
        List<Integer> kept = roundTripsOf("kept");
        assertThat(kept).hasSize(MESSAGES);
        assertThat(kept.subList(1, MESSAGES)).containsOnly(RAW + 2);
        // Drivers split large batches.
        List<Integer> batches = roundTripsOf("kept-batch");
        assertThat(batches.subList(1, batches.size())).isNotEmpty().allSatisfy(waits -> assertThat(waits)
                .isBetween(RAW + 2, RAW + 3));
    }

    @Test
    void ofDuplicatesThatFollowEachOtherOnlyTheFirstWaitsForItsOriginal() {
        List<String> before = app.bean(Effects.class).all();
        for (String consumer : List.of("known/Listeners.record", "known-batch/Listeners.batch")) {
            app.jdbc().update("""
                    insert into idempotency_processed (consumer_id, message_id, record_topic, record_partition,
                        record_offset)
                    select ?, 'message-' || i, ?, 0, i
                    from generate_series(0, ?) as i
                    """, consumer, TOPIC, MESSAGES - 1);
            List<Integer> waits = roundTripsOf(consumer.split("/")[0]);
            assertThat(waits.get(0)).isEqualTo(3);
            // The claim, which returns the original, and the commit.
            assertThat(waits.subList(1, waits.size())).isNotEmpty().containsOnly(2);
        }
        assertThat(app.bean(Effects.class).all()).isEqualTo(before);
    }

    @Test
    void aClaimFromCodeCostsOneMoreAndItsResultAnother() {
        IdempotentOperations operations = app.bean(IdempotentOperations.class);
        Effects effects = app.bean(Effects.class);
        // Statements are prepared at their first use.
        for (int i = 0; i < 10; i++) {
            MessageId plain = new MessageId("code", "plain-" + i);
            MessageId kept = new MessageId("code", "kept-" + i);
            assertThat(roundTripsOf(() -> operations.execute(plain, () -> effects.happen("code"))))
                    .isEqualTo(RAW + 1);
            assertThat(roundTripsOf(() -> operations.execute(kept, String.class, () -> {
                        effects.happen("code");
                        return "kept";
                    })))
                    .isEqualTo(RAW + 2);
        }
    }

    private static int roundTripsOf(Runnable call) {
        int before = roundTrips.count();
        call.run();
        return roundTrips.count() - before;
    }

    private static List<Integer> roundTripsOf(String listener) {
        app.bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer(listener)
                .start();
        app.awaitCaughtUp(listener, TOPIC);
        app.bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer(listener)
                .stop();
        return app.bean(Counter.class).waits.get(listener);
    }

    @Import(Counter.class)
    static class Listeners extends HasEffects {

        @Bean
        static IdempotentConsumer code() {
            return IdempotentConsumer.named("code");
        }

        private final JdbcTemplate jdbc;

        Listeners(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute(
                    "create table unique_effect (name varchar(1000) not null constraint unique_effect_name unique)");
        }

        @KafkaListener(id = "constraint", topics = "${topic}")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "unique_effect_name")
        void constraint(String payload) {
            this.jdbc.update("insert into unique_effect (name) values (?)", payload);
        }

        @KafkaListener(id = "raw", topics = "${topic}")
        @Transactional
        void raw(String payload) {
            this.effects.happen("raw " + payload);
        }

        @KafkaListener(id = "record", topics = "${topic}")
        @KafkaListener(id = "known", topics = "${topic}")
        @IdempotentListener
        void record(String payload) {
            this.effects.happen("record " + payload);
        }

        @KafkaListener(id = "at-commit", topics = "${topic}")
        @IdempotentListener(claimAtCommit = "true")
        void atCommit(String payload) {
            this.effects.happen("at-commit " + payload);
        }

        @KafkaListener(id = "version", topics = "${topic}")
        @IdempotentListener(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "#payload.length()")
        void version(String payload) {
            this.effects.happen("version " + payload);
        }

        @KafkaListener(id = "version-batch", topics = "${topic}", batch = "true")
        @IdempotentListener(
                strategy = DeduplicationStrategy.VERSION,
                key = "'one' + #payload[8]",
                version = "#payload.split('[ x]')[1]")
        void versionBatch(List<String> payloads) {
            this.effects.happen("version-batch of " + payloads.size());
        }

        @KafkaListener(id = "poll", topics = "${topic}", containerPostProcessor = "withoutRecordInterceptor")
        @IdempotentListener(transactionPerPoll = "true")
        void poll(String payload) {
            this.effects.happen("poll " + payload);
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>>
                withoutRecordInterceptor() {
            return container -> container.setRecordInterceptor(null);
        }

        @KafkaListener(id = "lock", topics = "${topic}")
        @IdempotentListener(lock = "#payload")
        void lock(String payload) {
            this.effects.happen("lock " + payload);
        }

        @KafkaListener(id = "lock-batch", topics = "${topic}", batch = "true")
        @IdempotentListener(lock = "#payload")
        void lockBatch(List<String> payloads) {
            this.effects.happen("lock-batch of " + payloads.size());
        }

        @KafkaListener(id = "lock-poll", topics = "${topic}", containerPostProcessor = "withoutRecordInterceptor")
        @IdempotentListener(lock = "#record.value()", transactionPerPoll = "true")
        void lockPoll(String payload) {
            this.effects.happen("lock-poll " + payload);
        }

        @KafkaListener(id = "kept", topics = "${topic}")
        @IdempotentListener(inbox = "true")
        void kept(String payload) {
            this.effects.happen("kept " + payload);
        }

        @KafkaListener(id = "kept-batch", topics = "${topic}", batch = "true", properties = "max.poll.records=100")
        @IdempotentListener(inbox = "true")
        void keptBatch(List<String> payloads) {
            this.effects.happen("kept-batch of " + payloads.size());
        }

        @KafkaListener(id = "offset", topics = "${topic}")
        @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
        void offset(String payload) {
            this.effects.happen("offset " + payload);
        }

        @KafkaListener(id = "offset-batch", topics = "${topic}", batch = "true")
        @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
        void offsetBatch(List<String> payloads) {
            this.effects.happen("offset-batch of " + payloads.size());
        }

        @KafkaListener(id = "raw-batch", topics = "${topic}", batch = "true")
        @Transactional
        void rawBatch(List<String> payloads) {
            this.effects.happen("raw-batch of " + payloads.size());
        }

        @KafkaListener(id = "batch", topics = "${topic}", batch = "true")
        @KafkaListener(id = "known-batch", topics = "${topic}", batch = "true", properties = "max.poll.records=50")
        @IdempotentListener
        void batch(List<String> payloads) {
            this.effects.happen("batch of " + payloads.size());
        }
    }

    /** Compares the count before and after each delivery. */
    static class Counter implements RecordInterceptor<Object, Object>, BatchInterceptor<Object, Object> {

        final Map<String, List<Integer>> waits = new ConcurrentHashMap<>();
        private int before;

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            this.before = roundTrips.count();
            return record;
        }

        @Override
        public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            remember(consumer);
        }

        @Override
        public ConsumerRecords<Object, Object> intercept(
                ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
            this.before = roundTrips.count();
            return records;
        }

        @Override
        public void success(ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
            remember(consumer);
        }

        private void remember(Consumer<Object, Object> consumer) {
            this.waits
                    .computeIfAbsent(consumer.groupMetadata().groupId(), group -> new CopyOnWriteArrayList<>())
                    .add(roundTrips.count() - this.before);
        }
    }
}
