package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.Version;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.kafka.TopicLookup;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.testing.TestMariaDb;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.transaction.support.TransactionTemplate;

/** Messages that two instances have at a time, on every database. */
class ContestedMessagesIT {

    private static final Map<String, IdempotencyDatabase> DATABASES = new ConcurrentHashMap<>();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String consumer = "consumer " + Uuid.randomUuid();

    /**
     * A transaction that the database has ended by itself, as it does after a deadlock, and whose message another instance has
     * processed since: if the claim of that one passed for the own, what the listener wrote afterwards would be committed
     * beside what the other one wrote.
     */
    @ParameterizedTest
    @CsvSource({
        "postgres, id",
        "postgres, offset",
        "postgres, version",
        "h2, id",
        "h2, offset",
        "h2, version",
        "mariadb, id",
        "mariadb, offset",
        "mariadb, version"
    })
    void theClaimOfAnotherDoesNotPassForTheOwn(String server, String kind) {
        IdempotencyDatabase database = DATABASES.computeIfAbsent(server, ContestedMessagesIT::create);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.dataSource()));
        JdbcTemplate jdbc = new JdbcTemplate(database.dataSource());
        AdmissionStrategy strategy = strategy(kind, database);
        ProcessedMessageStore store = storeIn(database);
        List<Candidate> message = List.of(candidate(kind, 0));
        transaction.executeWithoutResult(status -> {
            strategy.admit(message);
            BooleanSupplier held = store.watchTransaction();
            assertThat(held.getAsBoolean()).isTrue();
            status.setRollbackOnly();
        });
        transaction.executeWithoutResult(status -> {
            strategy.admit(message);
            BooleanSupplier held = store.watchTransaction();
            jdbc.execute("rollback");
            inAnotherThread(() -> transaction.executeWithoutResult(own -> {
                Admission admission = strategy.admit(message);
                assertThat(admission.isEmpty()).isFalse();
                assertThat(store.watchTransaction().getAsBoolean()).isTrue();
            }));
            assertThat(held.getAsBoolean()).isFalse();
            status.setRollbackOnly();
        });
        assertThat(transaction
                        .<Admission>execute(status -> strategy.admit(message))
                        .isEmpty())
                .isTrue();
    }

    /** A partition that two have for a while, as after a rebalance, and batches that begin with different ones. */
    @ParameterizedTest
    @ValueSource(strings = {"postgres", "h2", "mariadb"})
    void twoOwnersOfPartitionsNeitherDeadlockNorProcessARecordTwice(String server) {
        IdempotencyDatabase database = DATABASES.computeIfAbsent(server, ContestedMessagesIT::create);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.dataSource()));
        // Rows that are not there yet may make MariaDB end one of two transactions.
        AdmissionStrategy first = strategy("offset", database);
        transaction.executeWithoutResult(status -> first.admit(List.of(at(0, 0), at(1, 0))));
        Queue<RecordCoordinates> processed = new ConcurrentLinkedQueue<>();
        CyclicBarrier together = new CyclicBarrier(2);
        CompletableFuture.allOf(Stream.of(List.of(0, 1), List.of(1, 0))
                        .map(order -> CompletableFuture.runAsync(() -> {
                            AdmissionStrategy strategy = strategy("offset", database);
                            for (int offset = 1; offset <= 60; offset += 3) {
                                List<Candidate> batch = batch(order, offset, 3);
                                meet(together);
                                processed.addAll(transaction.execute(status -> strategy.admit(batch).admitted().stream()
                                        .map(Candidate::coordinates)
                                        .toList()));
                            }
                        }))
                        .toArray(CompletableFuture[]::new))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
        assertThat(processed).doesNotHaveDuplicates().hasSize(120);
    }

    /** What it does not see, as its view is older, it must not process. */
    @ParameterizedTest
    @CsvSource({
        "postgres, id, 4",
        "postgres, offset, 4",
        "postgres, offset, 8",
        "postgres, version, 4",
        "h2, id, 4",
        "h2, offset, 4",
        "h2, offset, 8",
        "h2, version, 4",
        "mariadb, id, 4",
        "mariadb, offset, 4",
        "mariadb, offset, 8",
        "mariadb, version, 4"
    })
    void aTransactionWithAnOlderViewDoesNotProcessWhatOthersHave(String server, String kind, int isolation) {
        IdempotencyDatabase database = DATABASES.computeIfAbsent(server, ContestedMessagesIT::create);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.dataSource()));
        TransactionTemplate isolated = new TransactionTemplate(transaction.getTransactionManager());
        isolated.setIsolationLevel(isolation);
        JdbcTemplate jdbc = new JdbcTemplate(database.dataSource());
        AdmissionStrategy strategy = strategy(kind, database);
        transaction.executeWithoutResult(status -> strategy.admit(List.of(candidate(kind, 0))));
        isolated.executeWithoutResult(status -> {
            jdbc.queryForList("select id from elsewhere");
            inAnotherThread(() -> transaction.executeWithoutResult(other -> assertThat(
                            strategy.admit(List.of(candidate(kind, 1))).isEmpty())
                    .isFalse()));
            try {
                assertThat(strategy.admit(List.of(candidate(kind, 1))).isEmpty())
                        .isTrue();
            } catch (StoreFailedException ex) {
                assertThat(ex).as("it comes again").hasMessageContaining("comes again");
            }
            status.setRollbackOnly();
        });
    }

    private static void meet(CyclicBarrier other) {
        try {
            other.await(30, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private List<Candidate> batch(List<Integer> partitions, int from, int size) {
        return partitions.stream()
                .flatMap(partition -> IntStream.range(from, from + size).mapToObj(offset -> at(partition, offset)))
                .toList();
    }

    private Candidate at(int partition, long offset) {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("topic", partition, offset, null, null);
        return new Candidate(
                0, record, new MessageId(this.consumer, partition + "@" + offset), RecordCoordinates.of(record));
    }

    private static IdempotencyDatabase create(String server) {
        HikariDataSource dataSource = new HikariDataSource();
        dataSource.setJdbcUrl(urlOf(server));
        IdempotencyDatabase database = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
        new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
        new JdbcTemplate(dataSource).execute("create table elsewhere (id integer primary key)");
        return database;
    }

    @AfterAll
    static void close() {
        DATABASES.values().forEach(database -> ((HikariDataSource) database.dataSource()).close());
        DATABASES.clear();
    }

    private static String urlOf(String server) {
        if (server.equals("postgres")) {
            return TestPostgres.createDatabase().jdbcUrl();
        }
        if (server.equals("h2")) {
            return "jdbc:h2:mem:" + Uuid.randomUuid();
        }
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow();
    }

    private static ProcessedMessageStore storeIn(IdempotencyDatabase database) {
        return new FailureTranslatingStore(new JdbcProcessedMessageStore(database, PATIENCE));
    }

    private AdmissionStrategy strategy(String kind, IdempotencyDatabase database) {
        JdbcStrategyFactory strategies = new JdbcStrategyFactory(database, PATIENCE);
        return switch (kind) {
            case "offset" -> strategies.byOffset(this.consumer, topics(), new ConsumerObserver() {});
            case "version" -> strategies.byVersion();
            default -> new MessageIdStrategy(storeIn(database));
        };
    }

    private Candidate candidate(String kind, long offset) {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("topic", 0, offset, null, null);
        return kind.equals("version")
                ? new Candidate(0, record, new EntityVersion(new MessageId(this.consumer, "a"), Version.of(offset)))
                : new Candidate(0, record, new MessageId(this.consumer, "a" + offset), RecordCoordinates.of(record));
    }

    private static TopicIdTracker topics() {
        Uuid id = new Uuid(1, 2);
        TopicLookup lookup = new TopicLookup() {

            @Override
            public Uuid topicId(BrokerConnection connection, String topic) {
                return id;
            }

            @Override
            public long endOffset(BrokerConnection connection, TopicPartition partition) {
                return Long.MAX_VALUE;
            }
        };
        return new TopicIdTracker(
                lookup,
                new KafkaMessageListenerContainer<>(
                        new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "localhost:1")),
                        new ContainerProperties("topic")));
    }

    private static void inAnotherThread(Runnable work) {
        CompletableFuture.runAsync(work).orTimeout(30, TimeUnit.SECONDS).join();
    }
}
