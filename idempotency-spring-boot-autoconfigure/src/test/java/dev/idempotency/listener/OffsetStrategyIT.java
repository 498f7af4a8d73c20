package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Strategy;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.failure.ConsumerOutage;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.JdbcPositionStore;
import dev.idempotency.store.PartitionPosition;
import dev.idempotency.testing.TestKafka;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;

/** Messages that are recognised by the offsets of their records. */
class OffsetStrategyIT extends ApplicationTest {

    private static final List<String> KINDS = List.of("batches", "polls", "records");

    private static final List<String> PROPERTIES = List.of(
            "idempotency.errors.max-attempts=2",
            "idempotency.errors.initial-interval=10ms",
            "management.endpoints.web.exposure.include=idempotency",
            "management.endpoint.idempotency.access=unrestricted");

    @Override
    protected int partitions() {
        return 2;
    }

    @Test
    void whatWasProcessedIsNotProcessedAgainAfterARewindAndWhatIsPublishedTwiceIs() {
        try (TestApplication app = start(Listeners.class)) {
            send(app, 0, "a", "b", "b");
            send(app, 1, "c");
            awaitEffects(app, "a", "b", "b", "c");
            Outcomes outcomes = app.bean(Outcomes.class);
            KINDS.forEach(kind -> app.rewind(this.group + kind, this.topic));
            await().atMost(Duration.ofSeconds(30)).until(() -> outcomes.duplicates.size() >= 4 * KINDS.size());
            send(app, 1, "d");
            awaitEffects(app, "a", "b", "b", "c", "d");
            assertThat(outcomes.duplicates).extracting(Duplicate::kind).containsOnly(DuplicateKind.REDELIVERY);
            assertThat(outcomes.missingKeys).isEmpty();
            assertThat(app.jdbc().queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isZero();
            JdbcPositionStore positions = app.bean(JdbcPositionStore.class);
            KINDS.forEach(kind -> assertThat(positions.positionsOf(kind))
                    .extracting(PartitionPosition::topic, PartitionPosition::partition, PartitionPosition::nextOffset)
                    .containsExactly(tuple(this.topic, 0, 3L), tuple(this.topic, 1, 2L)));
            assertThat(resets(app)).isZero();
        }
    }

    @Test
    void aPositionThatIsForgottenLetsARewindBeProcessedAgain() {
        try (TestApplication app = start(Listeners.class)) {
            send(app, 0, "a");
            send(app, 1, "b");
            awaitEffects(app, "a", "b");
            IdempotencyEndpoint endpoint = app.bean(IdempotencyEndpoint.class);
            assertThat(endpoint.read("records", this.topic + "-0@0")).hasToString(report(0, true));
            assertThat(endpoint.read("records", this.topic + "-0@1")).hasToString(report(1, false));
            assertThat(endpoint.read("records", this.topic + "-7@0")).isNull();
            assertThatExceptionOfType(InvalidEndpointRequestException.class)
                    .isThrownBy(() -> endpoint.read("records", "an id"));
            assertThat(endpoint.forget("records", null, this.topic, 0, SecurityContext.NONE)
                            .getStatus())
                    .isEqualTo(204);
            assertThat(endpoint.forget("records", null, this.topic, 0, SecurityContext.NONE)
                            .getStatus())
                    .isEqualTo(404);
            KINDS.forEach(kind -> app.rewind(this.group + kind, this.topic));
            awaitCaughtUp(app);
            assertThat(app.bean(Effects.class).counts())
                    .containsEntry("records a", 2)
                    .containsEntry("records b", 1)
                    .containsEntry("batches a", 1)
                    .containsEntry("polls a", 1);
        }
    }

    private String report(int offset, boolean processed) {
        RecordCoordinates record = new RecordCoordinates(this.topic, 0, offset);
        return "MessageReport[consumer=records, messageId=%s, version=null, processed=%s, processedAt=null, age=null, record=%s]"
                .formatted(record, processed, processed ? record : null);
    }

    @Test
    void aLogThatEndsBeforeThePositionDoesNotLoseAMessage() {
        try (TestApplication app = start(Listeners.class)) {
            send(app, 0, "a", "b");
            awaitEffects(app, "a", "b");
            app.bean(KafkaListenerEndpointRegistry.class).stop();
            app.jdbc().update("update idempotency_position set next_offset = 1000");
            send(app, 0, "c", "d");
            app.bean(KafkaListenerEndpointRegistry.class).start();
            awaitEffects(app, "a", "b", "c", "d");
            // Resets are told after the commit that the effects came with.
            awaitCaughtUp(app);
            assertThat(resets(app)).isEqualTo(KINDS.size());
            assertThat(app.bean(Resets.class).positions)
                    .contains(new RecordCoordinates(this.topic, 0, 2))
                    .hasSize(1);
            send(app, 0, "e");
            awaitEffects(app, "a", "b", "c", "d", "e");
            awaitCaughtUp(app);
            assertThat(resets(app)).isEqualTo(KINDS.size());
        }
    }

    @Test
    void gapsThatTransactionsOfAProducerLeaveAreNeitherWaitedForNorTakenForWhatIsDone() {
        List<String> committed = new ArrayList<>(PROPERTIES);
        committed.add("spring.kafka.consumer.isolation-level=read_committed");
        Map<String, Object> settings =
                Map.of("bootstrap.servers", TestKafka.bootstrapServers(), "transactional.id", this.topic);
        try (TestApplication app = start(committed, Listeners.class, Effects.class, Outcomes.class);
                KafkaProducer<String, String> producer =
                        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (String value : List.of("a", "undone", "b", "c", "undone", "d")) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(this.topic, 0, null, value));
                if (value.equals("undone")) {
                    producer.flush();
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
            awaitEffects(app, "a", "b", "c", "d");
            KINDS.forEach(kind -> app.rewind(this.group + kind, this.topic));
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> app.bean(Outcomes.class).duplicates.size() >= 4 * KINDS.size());
            awaitEffects(app, "a", "b", "c", "d");
        }
    }

    @Test
    void aMessageThatIsGivenUpDoesNotHoldThePositionBackAndComesThroughWhenItIsSentAgain() {
        try (TestApplication app = start(Listeners.class)) {
            Listeners listeners = app.bean(Listeners.class);
            listeners.poison("b");
            send(app, 0, "a", "b", "c");
            awaitEffects(app, "a", "c");
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> TopicContents.of(this.topic + "-dlt").size() == KINDS.size());
            KINDS.forEach(kind -> app.rewind(this.group + kind, this.topic));
            awaitCaughtUp(app);
            listeners.poison();
            ConsumerRecord<String, String> letter =
                    TopicContents.of(this.topic + "-dlt").get(0);
            app.send(new ProducerRecord<>(this.topic, 0, letter.key(), letter.value(), letter.headers()));
            awaitEffects(app, "a", "b", "c");
        }
    }

    @Test
    void aNackIsRolledBackAndAcknowledgmentsAndFiltersAreAsEver() {
        try (TestApplication app = start(
                List.of("spring.kafka.listener.ack-mode=manual_immediate"),
                Acknowledging.class,
                Filter.class,
                Effects.class,
                Outcomes.class)) {
            send(app, 0, "a", "nack once", "leave out", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "nack once");
            app.rewind(this.group, this.topic);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "nack once");
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(3);
        }
    }

    @Test
    void aPartitionThatIsTakenAwayInTheMidstOfATransactionIsWaitedForByItsNextOwner() throws Exception {
        List<String> lost = List.of(
                "spring.kafka.consumer.max-poll-records=10",
                "spring.kafka.consumer.properties.max.poll.interval.ms=1500",
                "spring.kafka.consumer.properties.heartbeat.interval.ms=200");
        try (TestApplication zombie = start(lost, Slow.class, Effects.class, Outcomes.class)) {
            zombie.bean(Slow.class).hold();
            send(zombie, 0, "a", "b", "c");
            assertThat(zombie.bean(Slow.class).isHeld()).isTrue();
            try (TestApplication owner = start(Slow.class, Effects.class, Outcomes.class)) {
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> owner.jdbc()
                                        .queryForObject(
                                                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                                        + " and datname = current_database()",
                                                Integer.class)
                                > 0);
                zombie.bean(Slow.class).release();
                owner.awaitCaughtUp(this.group, this.topic);
                assertThat(owner.bean(Effects.class).all()).containsExactly("a", "b", "c");
                assertThat(owner.bean(Outcomes.class).duplicates).isNotEmpty();
            }
        }
    }

    @Test
    void positionsOfAbandonedConsumersAreForgottenAndOthersNever() {
        try (TestApplication app = start(Listeners.class)) {
            send(app, 0, "a");
            awaitEffects(app, "a");
            app.jdbc().update("update idempotency_position set processed_at = now() - interval '365 days'");
            app.jdbc().update("""
                    insert into idempotency_position (consumer_id, record_topic, record_partition, topic_id, next_offset,
                        previous_offset, processed_at)
                    values ('gone', 'x', 0, 'id', 7, 0, now() - interval '31 days'),
                        ('gone', 'x', 1, 'id', 7, 0, now() - interval '400 days'),
                        ('idle', 'x', 0, 'id', 7, 0, now() - interval '29 days'),
                        ('idle', 'x', 1, 'id', 7, 0, now() - interval '400 days')
                    """);
            app.bean(Cleanup.class).run();
            assertThat(app.jdbc()
                            .queryForList(
                                    "select consumer_id from idempotency_position order by consumer_id, record_partition",
                                    String.class))
                    .containsExactly("batches", "idle", "idle", "polls", "records");
        }
    }

    @Test
    void aConsumerWaitsIfAnInterceptorMakesSeveralRecordsOfOne() {
        try (TestApplication app = start(Splitting.class, Effects.class, Outcomes.class)) {
            send(app, 0, "a,b");
            OutageRegistry outages = app.bean(OutageRegistry.class);
            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(outages.current())
                    .extracting(ConsumerOutage::consumer)
                    .containsExactly("split"));
            assertThat(app.bean(Effects.class).all()).isEmpty();
        }
    }

    @Override
    protected TestApplication start(Class<?>... classes) {
        return (classes.length == 1)
                ? start(PROPERTIES, classes[0], Effects.class, Outcomes.class, Meters.class, Resets.class)
                : super.start(classes);
    }

    private void send(TestApplication app, int partition, String... values) {
        for (String value : values) {
            app.send(new ProducerRecord<>(this.topic, partition, null, value));
        }
    }

    private static double resets(TestApplication app) {
        return app.bean(MeterRegistry.class).get(IdempotencyMeters.POSITION_RESETS).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    private void awaitCaughtUp(TestApplication app) {
        KINDS.forEach(kind -> app.awaitCaughtUp(this.group + kind, this.topic));
    }

    private static void awaitEffects(TestApplication app, String... values) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(app.bean(Effects.class).all())
                        .containsExactly(KINDS.stream()
                                .flatMap(kind -> Arrays.stream(values).map(value -> kind + " " + value))
                                .toArray(String[]::new)));
    }

    static class Listeners {

        private volatile List<String> poison = List.of();

        @Autowired
        private Effects effects;

        void poison(String... payloads) {
            this.poison = List.of(payloads);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}records")
        @IdempotentListener(consumer = "records", strategy = Strategy.OFFSET)
        void records(String payload) {
            happen("records", payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batches", batch = "true")
        @IdempotentListener(consumer = "batches", strategy = Strategy.OFFSET)
        void batches(List<String> payloads) {
            payloads.forEach(payload -> happen("batches", payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}polls")
        @IdempotentListener(consumer = "polls", strategy = Strategy.OFFSET, transactionPerPoll = "true")
        void polls(String payload) {
            happen("polls", payload);
        }

        private void happen(String kind, String payload) {
            this.effects.happen(kind + " " + payload);
            if (this.poison.contains(payload)) {
                throw new IllegalStateException("poison");
            }
        }
    }

    static class Acknowledging {

        @Autowired
        private Effects effects;

        private boolean nacked;

        @KafkaListener(topics = "${topic}", groupId = "${group}", filter = "filter")
        @IdempotentListener(consumer = "acknowledging", strategy = Strategy.OFFSET)
        void on(String payload, Acknowledgment acknowledgment) {
            this.effects.happen(payload);
            if (payload.startsWith("nack") && !this.nacked) {
                this.nacked = true;
                acknowledgment.nack(Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    static class Filter {

        @Bean
        RecordFilterStrategy<Object, Object> filter() {
            return record -> "leave out".equals(record.value());
        }
    }

    static class Splitting {

        @Autowired
        private Effects effects;

        @KafkaListener(topics = "${topic}", groupId = "${group}split", containerFactory = "splitting")
        @IdempotentListener(consumer = "split", strategy = Strategy.OFFSET)
        void split(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("split " + payload));
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> splitting(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setBatchListener(true);
            factory.setBatchInterceptor((records, consumer) -> new ConsumerRecords<>(
                    records.partitions().stream()
                            .collect(Collectors.toMap(
                                    partition -> partition, partition -> records.records(partition).stream()
                                            .flatMap(record -> Stream.of(record, record))
                                            .toList())),
                    Map.of()));
            return factory;
        }
    }

    static class Slow {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);
        private volatile boolean hold;

        @Autowired
        private Effects effects;

        void hold() {
            this.hold = true;
        }

        boolean isHeld() throws InterruptedException {
            return this.reached.await(30, TimeUnit.SECONDS);
        }

        void release() {
            this.release.countDown();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "slow", strategy = Strategy.OFFSET)
        void on(String payload) throws InterruptedException {
            this.effects.happen(payload);
            if (this.hold) {
                this.hold = false;
                this.reached.countDown();
                this.release.await(60, TimeUnit.SECONDS);
            }
        }
    }

    static class Resets implements IdempotencyObserver {

        final Set<RecordCoordinates> positions = ConcurrentHashMap.newKeySet();

        @Override
        public ConsumerObserver observe(ConsumerDescription consumer) {
            return new ConsumerObserver() {

                @Override
                public void positionReset(RecordCoordinates first) {
                    Resets.this.positions.add(first);
                }
            };
        }
    }

    static class Meters {

        @Bean
        SimpleMeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }
}
