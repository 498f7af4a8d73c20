package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

/** What becomes of failures where the application says nothing about them. Topics and consumers are those of a kind. */
class FailureHandlingIT extends SharedApplicationTest {

    private static final int MAX_ATTEMPTS = 3;

    @BeforeAll
    void start() {
        createTopics(1, "records", "batches", "polls", "plain");
        start(
                Listeners.class,
                "spring.datasource.hikari.connection-timeout=500",
                "spring.datasource.hikari.maximum-pool-size=5",
                "spring.kafka.consumer.value-deserializer="
                        + "org.springframework.kafka.support.serializer.ErrorHandlingDeserializer",
                "spring.kafka.consumer.properties.spring.deserializer.value.delegate.class="
                        + PickyDeserializer.class.getName(),
                "idempotency.errors.initial-interval=50ms",
                "idempotency.errors.max-interval=200ms",
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS,
                "idempotency.errors.outage.max-interval=200ms");
        for (String kind : List.of("records", "batches", "polls", "plain")) {
            await("the consumer of " + kind)
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> consumer(kind) != container(kind));
        }
    }

    private String deadLetterTopic(String kind) {
        return topic(kind) + "-dlt";
    }

    /** Has the messages polled together, so that batch listeners get them in one batch. */
    private void sendTogether(String kind, List<String> payloads) {
        container(kind).pause();
        try {
            await().until(() -> consumer(kind).isContainerPaused());
            send(kind, payloads.toArray(String[]::new));
        } finally {
            container(kind).resume();
        }
    }

    private int effects(String payload) {
        return this.app.bean(Effects.class).counts().getOrDefault(payload, 0);
    }

    private List<ConsumerRecord<String, String>> deadLetters(String kind, String value) {
        return TopicContents.of(deadLetterTopic(kind)).stream()
                .filter(record -> value.equals(record.value()))
                .toList();
    }

    private double meter(String name, String kind) {
        return this.app.bean(MeterRegistry.class).get(name).tag("consumer", kind).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aPoisonMessageAmongGoodOnesIsDeadLetteredAloneAndTheOthersAreApplied(String kind) {
        double deadLettersBefore = meter(IdempotencyMeters.DEAD_LETTERS, kind);
        double retriesBefore = meter(IdempotencyMeters.RETRIES, kind);
        String poison = "poison of " + kind;
        List<String> good =
                IntStream.range(0, 20).mapToObj(i -> "good " + kind + i).toList();
        List<String> all = new ArrayList<>(good);
        all.add(7, poison);
        sendTogether(kind, all);
        awaitCaughtUp(kind);
        assertThat(good).allSatisfy(payload -> assertThat(effects(payload)).isOne());
        assertThat(effects(poison)).isZero();
        assertThat(TopicContents.values(deadLetterTopic(kind))).doesNotContainAnyElementsOf(good);
        assertThat(deadLetters(kind, poison)).singleElement().satisfies(letter -> {
            assertThat(header(letter, "message-id")).isEqualTo(poison);
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic(kind));
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("IllegalStateException");
        });
        assertThat(meter(IdempotencyMeters.DEAD_LETTERS, kind)).isEqualTo(deadLettersBefore + 1);
        assertThat(meter(IdempotencyMeters.RETRIES, kind)).isGreaterThanOrEqualTo(retriesBefore + MAX_ATTEMPTS - 1);
        if (kind.equals("records")) {
            assertThat(this.app.bean(Work.class).attempts(poison)).isEqualTo(MAX_ATTEMPTS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aDeadLetterNamesItsGroupAndCauseWhetherItCameAloneOrNot(String kind) {
        String alone = "poison alone of " + kind;
        String among = "poison among others of " + kind;
        send(kind, alone);
        awaitCaughtUp(kind);
        sendTogether(kind, List.of("before " + among, among, "after " + among));
        awaitCaughtUp(kind);
        assertThat(List.of(alone, among)).allSatisfy(poison -> assertThat(deadLetters(kind, poison))
                .singleElement()
                .satisfies(letter -> {
                    assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP))
                            .isEqualTo(container(kind).getGroupId());
                    assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN))
                            .isEqualTo(IllegalStateException.class.getName());
                }));
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aMessageThatSucceedsWhenItComesAgainIsAppliedOnceWithTheSameDerivedKey(String kind) {
        String flaky = "flaky of " + kind;
        send(kind, "before " + flaky, flaky, "after " + flaky);
        awaitCaughtUp(kind);
        assertThat(effects(flaky)).isOne();
        assertThat(effects("before " + flaky)).isOne();
        assertThat(effects("after " + flaky)).isOne();
        List<String> keys = this.app.bean(Work.class).keys(flaky);
        assertThat(keys).hasSizeGreaterThan(1);
        assertThat(keys).containsOnly(keys.get(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aMessageWithoutAKeyAndOneThatCannotBeReadAreDeadLetteredAsTheyCame(String kind) {
        send(kind, "keyed before the keyless of " + kind);
        this.app.send(topic(kind), null, "keyless " + kind);
        this.app.send(topic(kind), "garbled " + kind, "garbled " + kind);
        send(kind, "readable " + kind);
        awaitCaughtUp(kind);
        assertThat(effects("readable " + kind)).isOne();
        assertThat(deadLetters(kind, "keyless " + kind)).singleElement().satisfies(letter -> assertThat(
                        header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE))
                .contains(MissingMessageKeyException.class.getName()));
        assertThat(deadLetters(kind, "garbled " + kind)).singleElement().satisfies(letter -> {
            assertThat(header(letter, "message-id")).isEqualTo("garbled " + kind);
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("DeserializationException");
        });
        assertThat(this.app.bean(Work.class).attempts("keyless " + kind)).isZero();
        assertThat(this.app.bean(Work.class).ids()).contains("readable " + kind).doesNotContain("garbled " + kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aTombstoneThatFailsIsDeadLetteredAsATombstone(String kind) {
        this.app.send(topic(kind), "tombstone " + kind, null);
        awaitCaughtUp(kind);
        assertThat(TopicContents.of(deadLetterTopic(kind)))
                .filteredOn(letter -> ("tombstone " + kind).equals(header(letter, "message-id")))
                .singleElement()
                .satisfies(letter -> assertThat(letter.value()).isNull());
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aDeadLetterThatIsSentBackIsProcessedOnce(String kind) {
        String payload = "keyed later " + kind;
        send(kind, "keyed before " + payload);
        this.app.send(topic(kind), null, payload);
        awaitCaughtUp(kind);
        ConsumerRecord<String, String> letter = deadLetters(kind, payload).get(0);
        for (int i = 0; i < 3; i++) {
            ProducerRecord<String, String> back = new ProducerRecord<>(topic(kind), letter.value());
            letter.headers().forEach(back.headers()::add);
            back.headers().add("message-id", payload.getBytes(StandardCharsets.UTF_8));
            this.app.send(back);
        }
        awaitCaughtUp(kind);
        assertThat(effects(payload)).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "25006", "08006"})
    void whatIsNotTheMessagesFaultIsRetriedBeyondAllAttemptsAndNeverDeadLettered(String state) {
        for (String kind : List.of("records", "batches", "polls")) {
            String payload = "sqlstate:" + state + " of " + kind;
            send(kind, payload, "behind " + payload);
            awaitCaughtUp(kind);
            assertThat(effects(payload)).isOne();
            assertThat(effects("behind " + payload)).isOne();
            assertThat(this.app.bean(Work.class).attempts(payload)).isEqualTo(6);
            assertThat(deadLetters(kind, payload)).isEmpty();
        }
        assertThat(this.app.bean(OutageRegistry.class).current()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void anOutageIsWaitedForInOrderWithOneLineWhenItBeginsAndOneWhenItEnds(String kind) {
        List<String> payloads =
                IntStream.range(0, 50).mapToObj(i -> "patient " + kind + i).toList();
        try (FailureLog log = new FailureLog(Outage.class.getName())) {
            this.database.goAway();
            send(kind, payloads.toArray(String[]::new));
            await().atMost(Duration.ofSeconds(30)).until(() -> meter(IdempotencyMeters.OUTAGE, kind) == 1);
            double retries = meter(IdempotencyMeters.RETRIES, kind);
            await().atMost(Duration.ofSeconds(30)).until(() -> meter(IdempotencyMeters.RETRIES, kind) > retries + 1);
            await().atMost(Duration.ofSeconds(30)).until(() -> consumer(kind).isPartitionPaused(partition(kind)));
            assertThat(this.app.bean(OutageRegistry.class).current())
                    .extracting(ConsumerOutage::consumer)
                    .containsExactly(kind);
            Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("waitingForDatabase")).asString().contains("consumer=" + kind);
            this.database.comeBack();
            awaitCaughtUp(kind);
            await().atMost(Duration.ofSeconds(30)).until(() -> meter(IdempotencyMeters.OUTAGE, kind) == 0);
            List<String> lines = log.lines().stream()
                    .filter(line -> line.contains("'" + kind + "'"))
                    .toList();
            assertThat(lines).hasSize(2);
            assertThat(lines.get(0)).contains("waits for the database", topic(kind));
            assertThat(lines.get(1)).contains("no longer waits");
        }
        assertThat(payloads).allSatisfy(payload -> assertThat(effects(payload)).isOne());
        assertThat(this.app
                        .jdbc()
                        .queryForList(
                                "select name from effect where name like ? order by xmin::text::bigint, cmin::text::bigint",
                                String.class,
                                "patient " + kind + "%"))
                .containsExactlyElementsOf(payloads);
        assertThat(TopicContents.values(deadLetterTopic(kind))).doesNotContainAnyElementsOf(payloads);
        assertThat(consumer(kind).isPauseRequested()).isFalse();
        assertThat(consumer(kind).isPartitionPauseRequested(partition(kind))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void anExhaustedPoolIsWaitedForAsTheDatabaseIs(String kind) throws SQLException {
        String payload = "waits for a connection " + kind;
        DataSource pool = this.app.bean(DataSource.class);
        List<Connection> borrowed = new ArrayList<>();
        try {
            // Those that an earlier test has cut are found to be so only now, and others made.
            await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
                while (borrowed.size() < 5) {
                    borrowed.add(pool.getConnection());
                }
                return true;
            });
            send(kind, payload);
            double retries = meter(IdempotencyMeters.RETRIES, kind);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> meter(IdempotencyMeters.RETRIES, kind) > retries + MAX_ATTEMPTS);
            assertThat(meter(IdempotencyMeters.OUTAGE, kind)).isOne();
        } finally {
            for (Connection connection : borrowed) {
                connection.close();
            }
        }
        awaitCaughtUp(kind);
        assertThat(effects(payload)).isOne();
        assertThat(TopicContents.values(deadLetterTopic(kind))).doesNotContain(payload);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void connectionsThatAreCutUnderLoadCostNothing(String kind) {
        List<String> payloads = IntStream.range(0, 200)
                .mapToObj(i -> ((i % 40 == 3) ? "slow " : "cut ") + kind + i)
                .toList();
        for (int i = 0; i < payloads.size(); i++) {
            send(kind, payloads.get(i));
            if (i % 50 == 25) {
                this.database.cutConnections();
            }
        }
        awaitCaughtUp(kind);
        Map<String, Integer> counts = this.app.bean(Effects.class).counts();
        assertThat(payloads).allSatisfy(payload -> assertThat(counts).containsEntry(payload, 1));
        assertThat(TopicContents.values(deadLetterTopic(kind))).doesNotContainAnyElementsOf(payloads);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aMessageThatCannotBeDeadLetteredIsNotSkipped(String kind) throws Exception {
        awaitDeadLetterTopic(kind);
        limitMessageSize(deadLetterTopic(kind), "100");
        String poison = "poison that is refused " + kind;
        try (FailureLog log = new FailureLog(RetryingErrorHandler.class.getName())) {
            send(kind, poison, "behind " + poison);
            await().atMost(Duration.ofSeconds(60)).until(() -> log.linesWithExceptions().stream()
                    .anyMatch(line -> line.contains("See that the topic")));
            assertThat(effects("behind " + poison)).isZero();
            assertThat(TestApplication.committedOffsets(topic(kind), topic(kind)))
                    .isNotEqualTo(TestApplication.endOffsets(topic(kind)));
        } finally {
            limitMessageSize(deadLetterTopic(kind), "1000000");
        }
        awaitCaughtUp(kind);
        assertThat(effects("behind " + poison)).isOne();
        assertThat(effects(poison)).isZero();
        assertThat(deadLetters(kind, poison)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "batches", "polls"})
    void aMessageWhoseExceptionIsTooLargeForADeadLetterIsDeadLetteredWithLessOfIt(String kind) {
        String payload = "verbose of " + kind;
        send(kind, payload, "behind " + payload);
        await().atMost(Duration.ofSeconds(30)).until(() -> effects("behind " + payload) == 1);
        assertThat(deadLetters(kind, payload)).singleElement().satisfies(letter -> {
            assertThat(header(letter, "message-id")).isEqualTo(payload);
            assertThat(header(letter, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic(kind));
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN)).isNotEmpty();
            assertThat(header(letter, KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).contains("Exception");
        });
    }

    @Test
    void aContainerThatIsNotProtectedIsLeftAlone() {
        assertThat(container("plain").getCommonErrorHandler()).isNull();
        assertThat(container("records").getCommonErrorHandler()).isInstanceOf(OutageErrorHandler.class);
    }

    @Test
    void aContainerThatTheApplicationHasPausedStaysPaused() {
        String payload = "flaky while paused";
        container("records").pause();
        try {
            send("records", payload);
            await().until(() -> consumer("records").isContainerPaused());
            try (ConsumerPauses pauses = new ConsumerPauses()) {
                pauses.pause(container("records"), partition("records"), Duration.ofMillis(1));
                pauses.pause(container("plain"), partition("plain"), Duration.ofMillis(50));
                await().until(() -> !consumer("plain").isPartitionPauseRequested(partition("plain")));
            }
            assertThat(consumer("records").isPauseRequested()).isTrue();
        } finally {
            container("records").resume();
        }
        awaitCaughtUp("records");
        assertThat(effects(payload)).isOne();
    }

    @Test
    void aPauseThatIsAskedForWhenTheApplicationShutsDownIsNoError() {
        ConsumerPauses pauses = new ConsumerPauses();
        pauses.close();
        try {
            pauses.pause(container("plain"), partition("plain"), Duration.ofMillis(1));
        } finally {
            consumer("plain").resumePartition(partition("plain"));
        }
    }

    private void awaitDeadLetterTopic(String kind) {
        send(kind, "poison to have the topic created " + kind);
        awaitCaughtUp(kind);
    }

    private ConcurrentMessageListenerContainer<?, ?> container(String id) {
        return (ConcurrentMessageListenerContainer<?, ?>)
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(id);
    }

    private TopicPartition partition(String kind) {
        return new TopicPartition(topic(kind), 0);
    }

    private MessageListenerContainer consumer(String kind) {
        return container(kind).getContainerFor(topic(kind), 0);
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Work.class})
    static class Listeners {

        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        OfRecords ofRecords(Work work) {
            return new OfRecords(work);
        }

        @Bean
        OfBatches ofBatches(Work work) {
            return new OfBatches(work);
        }

        @Bean
        OfPolls ofPolls(Work work) {
            return new OfPolls(work);
        }

        @Bean
        Plain plain() {
            return new Plain();
        }
    }

    static class OfRecords {

        private final Work work;

        OfRecords(Work work) {
            this.work = work;
        }

        @KafkaListener(id = "records", topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener("records")
        void on(ConsumerRecord<String, String> record) {
            this.work.on(record.value(), 0);
        }
    }

    static class OfBatches {

        private final Work work;

        OfBatches(Work work) {
            this.work = work;
        }

        @KafkaListener(id = "batches", topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener("batches")
        void on(List<ConsumerRecord<String, String>> records) {
            List<String> payloads =
                    records.stream().map(ConsumerRecord::value).collect(Collectors.toCollection(ArrayList::new));
            for (int i = 0; i < payloads.size(); i++) {
                this.work.on(payloads.get(i), i);
            }
        }
    }

    static class OfPolls {

        private final Work work;

        OfPolls(Work work) {
            this.work = work;
        }

        @KafkaListener(id = "polls", topics = "polls${suffix}", groupId = "polls${suffix}")
        @IdempotentListener(value = "polls", transactionPerPoll = "true")
        void on(ConsumerRecord<String, String> record) {
            this.work.on(record.value(), 0);
        }
    }

    static class Plain {

        @KafkaListener(id = "plain", topics = "plain${suffix}", groupId = "plain${suffix}")
        void on(String payload) {}
    }
}
