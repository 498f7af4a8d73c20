package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.testing.TestKafka;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A constraint of the application's own tells duplicates. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractConstraintIT {

    private final String suffix = TestKafka.uniqueName("");

    TestApplication app;

    abstract String jdbcUrl();

    Class<?> listeners() {
        return Listeners.class;
    }

    String[] kinds() {
        return new String[] {"records", "polls"};
    }

    @BeforeAll
    void start() {
        String url = jdbcUrl();
        for (String kind : kinds()) {
            TestKafka.createTopics(1, kind + this.suffix);
        }
        this.app = TestApplication.start(
                url,
                List.of(
                        "suffix=" + this.suffix,
                        "spring.kafka.listener.auto-startup=false",
                        "spring.jpa.hibernate.ddl-auto=create",
                        "spring.kafka.consumer.fetch-max-wait=50ms",
                        "idempotency.relaxed-checks=merged-entity",
                        "idempotency.errors.initial-interval=10ms",
                        "idempotency.errors.max-interval=20ms",
                        "idempotency.errors.max-attempts=2"),
                listeners(),
                TestApplication.WithJpa.class,
                Tally.class);
    }

    @AfterAll
    void stop() {
        if (this.app != null) {
            this.app.close();
        }
    }

    /** Sends messages, the first ones of a kind before its listener starts, so that it gets them at once; waits for all. */
    @SuppressWarnings("unchecked") // Spring Boot's template takes whatever its serializers take: here, text.
    final void deliver(String kind, String... payloads) {
        KafkaTemplate<String, String> kafka = this.app.bean(KafkaTemplate.class);
        for (String payload : payloads) {
            kafka.send(topic(kind), payload);
        }
        kafka.flush();
        this.app
                .bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer(kind)
                .start();
        this.app.awaitCaughtUp(topic(kind), topic(kind));
    }

    final String topic(String kind) {
        return kind + this.suffix;
    }

    final List<String> effects(String word) {
        return this.app.bean(Effects.class).all().stream()
                .filter(effect -> effect.contains(word))
                .toList();
    }

    final List<String> deadLetters(String kind, String word) {
        return TopicContents.values(topic(kind) + "-dlt").stream()
                .filter(value -> value.contains(word))
                .toList();
    }

    final Tally.OfConsumer tally(String kind) {
        return this.app.bean(Tally.class).consumers.get(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "polls"})
    void aMessageWhoseRowIsThereIsADuplicateAndWhatElseItDidIsUndone(String kind) {
        Tally.OfConsumer tally = tally(kind);
        int processed = tally.processed.size();
        int failed = tally.failed.get();
        tally.duplicates.clear();
        deliver(kind, kind + "-a", kind + "-b", kind + "-a", kind + "-c");
        deliver(kind, kind + "-c", kind + "-d", kind + "-b");
        assertThat(effects(kind + "-")).containsExactly(kind + "-a", kind + "-b", kind + "-c", kind + "-d");
        assertThat(tally.processed).hasSize(processed + 4);
        assertThat(tally.duplicates)
                .extracting(Duplicate::kind, Duplicate::processedAt, Duplicate::age)
                .containsOnly(tuple(DuplicateKind.UNKNOWN, null, null))
                .hasSize(3);
        assertThat(tally.duplicates)
                .allSatisfy(duplicate -> assertThat(duplicate.id().value())
                        .isEqualTo(duplicate.coordinates().toString()));
        assertThat(tally.failed).hasValue(failed);
        assertThat(tally.claims).as("nothing is claimed").hasValue(0);
        assertThat(deadLetters(kind, kind + "-")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "polls"})
    void aViolationOfAnotherConstraintIsAFailureOfThatMessageAlone(String kind) {
        int failed = tally(kind).failed.get();
        deliver(kind, kind + "/1", kind + "/2 other", kind + "/3", kind + "/1");
        assertThat(effects(kind + "/")).containsExactly(kind + "/1", kind + "/3");
        assertThat(deadLetters(kind, kind + "/")).containsExactly(kind + "/2 other");
        assertThat(tally(kind).failed.get()).isGreaterThan(failed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"records", "polls"})
    void aMessageThatViolatesTheConstraintByItselfHasFailedAndIsNotDropped(String kind) {
        deliver(kind, kind + "+1 twice", kind + "+2");
        assertThat(effects(kind + "+")).containsExactly(kind + "+2");
        assertThat(deadLetters(kind, kind + "+")).containsExactly(kind + "+1 twice");
    }

    @Test
    void aViolationCountsThatTheListenerHasWrappedWhateverInto() {
        deliver("records", "wrapped wrapped", "wrapped wrapped");
        assertThat(effects("wrapped")).containsExactly("wrapped wrapped");
        assertThat(deadLetters("records", "wrapped")).isEmpty();
    }

    @Test
    void theViolationOfABatchOfStatementsCounts() {
        deliver("records", "jdbc-batch batched", "jdbc-batch batched");
        assertThat(effects("jdbc-batch")).containsExactly("jdbc-batch batched");
        assertThat(deadLetters("records", "jdbc-batch")).isEmpty();
    }

    /** The row is there, by the first attempt, but what else that did was rolled back. */
    @ParameterizedTest
    @ValueSource(strings = {"records", "polls"})
    void aViolationInAnotherTransactionIsAFailure(String kind) {
        deliver(kind, kind + "*1 elsewhere", kind + "*2 by another", kind + "*3");
        assertThat(effects(kind + "*")).containsExactly(kind + "*3");
        assertThat(deadLetters(kind, kind + "*")).containsExactly(kind + "*1 elsewhere", kind + "*2 by another");
    }

    @Test
    void aDuplicateIsOneAlsoAfterOtherTransactionsHaveEndedWell() {
        deliver("records", "audited audited", "audited audited");
        assertThat(effects("audited")).containsExactly("audited audited");
        assertThat(deadLetters("records", "audited")).isEmpty();
    }

    /** What became of the messages of each consumer. */
    static class Tally implements IdempotencyObserver {

        final Map<String, OfConsumer> consumers = new ConcurrentHashMap<>();

        @Override
        public ConsumerObserver observe(ConsumerDescription consumer) {
            return this.consumers.computeIfAbsent(consumer.name(), name -> new OfConsumer());
        }

        static class OfConsumer implements ConsumerObserver {

            final List<MessageId> processed = new CopyOnWriteArrayList<>();
            final List<Duplicate> duplicates = new CopyOnWriteArrayList<>();
            final AtomicInteger failed = new AtomicInteger();
            final AtomicInteger claims = new AtomicInteger();

            @Override
            public void claimAnswered(int claimed, int duplicates, long nanos) {
                this.claims.incrementAndGet();
            }

            @Override
            public void processed(MessageId id, RecordCoordinates coordinates) {
                this.processed.add(id);
            }

            @Override
            public void duplicate(Duplicate duplicate) {
                this.duplicates.add(duplicate);
            }

            @Override
            public void failed(int messages) {
                this.failed.addAndGet(messages);
            }
        }
    }

    /** The row with a message's name, and how it is inserted. */
    static class Payments {

        private final Effects effects;
        private final JdbcTemplate jdbc;
        private final TransactionTemplate another;
        private final TransactionTemplate ofAnother;
        private final JdbcTemplate anotherSource;

        Payments(
                Effects effects,
                JdbcTemplate jdbc,
                PlatformTransactionManager transactions,
                @Qualifier("ofAnotherSource") JdbcTransactionManager others) {
            this.effects = effects;
            this.jdbc = jdbc;
            this.another = new TransactionTemplate(transactions);
            this.another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            this.ofAnother = new TransactionTemplate(others);
            this.anotherSource = new JdbcTemplate(others.getDataSource());
            jdbc.execute("create table payment (name varchar(100) not null, constraint payment_name unique (name))");
            jdbc.execute("create table sole (id integer, constraint sole_id unique (id))");
            jdbc.update("insert into sole (id) values (1)");
        }

        void process(String payload) throws Exception {
            this.effects.happen(payload);
            switch (payload.substring(payload.indexOf(' ') + 1)) {
                case "other" -> this.jdbc.update("insert into sole (id) values (1)");
                case "twice" -> insert(payload);
                case "elsewhere" -> {
                    this.another.executeWithoutResult(status -> insert(payload));
                    throw new IllegalStateException("after another transaction has committed");
                }
                case "by another" -> {
                    this.ofAnother.executeWithoutResult(status -> insert(payload, this.anotherSource));
                    throw new IllegalStateException("after a transaction of another DataSource has committed");
                }
                case "audited" ->
                    this.another.executeWithoutResult(status -> this.jdbc.queryForList("select id from sole"));
                case "batched" -> {
                    this.jdbc.batchUpdate(
                            "insert into payment (name) values (?)",
                            List.of(new Object[] {payload + " before"}, new Object[] {payload}));
                    return;
                }
                case "wrapped" -> {
                    try {
                        insert(payload);
                    } catch (RuntimeException ex) {
                        throw new Exception("checked", new Error(ex));
                    }
                    return;
                }
                default -> {}
            }
            insert(payload);
        }

        void insert(String payload) {
            insert(payload, this.jdbc);
        }

        private static void insert(String payload, JdbcTemplate jdbc) {
            jdbc.update("insert into payment (name) values (?)", payload);
        }
    }

    @Import({Effects.class, Payments.class})
    static class Listeners {

        final Payments payments;

        Listeners(Payments payments) {
            this.payments = payments;
        }

        @Bean(defaultCandidate = false)
        static JdbcTransactionManager ofAnotherSource(DataSource dataSource) {
            return new JdbcTransactionManager(new DelegatingDataSource(dataSource));
        }

        @KafkaListener(id = "records", topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener(
                consumer = "records",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name")
        void records(String payload) throws Exception {
            this.payments.process(payload);
        }

        @KafkaListener(id = "polls", topics = "polls${suffix}", groupId = "polls${suffix}")
        @IdempotentListener(
                consumer = "polls",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name",
                transactionPerPoll = "true")
        void polls(String payload) throws Exception {
            this.payments.process(payload);
        }
    }
}
