package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Two consumers of the same messages take random steps, and the store agrees with a model in memory after each: a committed
 * message is known, and was applied exactly once since it was last forgotten.
 *
 * <p>On failure, jqwik prints the seed and the shortest steps that it finds. Repeat them with {@code @Property(seed = …)}.
 */
class StoreStateMachineIT {

    private static final List<String> MESSAGES = List.of("a", "b", "c", "d", "e");
    private static final Duration RETENTION = Duration.ofDays(7);

    private static final String WAITING =
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

    enum Kind {
        DELIVER,
        END,
        AGE,
        CLEAN_UP,
        FORGET
    }

    enum End {
        COMMIT,
        ROLL_BACK,
        CRASH
    }

    /**
     * A step that is possible in any state.
     *
     * @param consumer the index of the acting consumer
     * @param messages the messages concerned
     * @param lookFirst whether duplicates are expected
     * @param end how the consumer's transaction ends, or the other consumer's if the delivery waits for it
     */
    record Step(Kind kind, int consumer, Set<String> messages, boolean lookFirst, End end) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(8, Kind.DELIVER),
                Tuple.of(5, Kind.END),
                Tuple.of(2, Kind.AGE),
                Tuple.of(2, Kind.CLEAN_UP),
                Tuple.of(1, Kind.FORGET));
        Arbitrary<End> ends =
                Arbitraries.frequency(Tuple.of(4, End.COMMIT), Tuple.of(2, End.ROLL_BACK), Tuple.of(1, End.CRASH));
        return Combinators.combine(
                        kinds,
                        Arbitraries.of(0, 1),
                        Arbitraries.of(MESSAGES).set().ofMinSize(1).ofMaxSize(3),
                        Arbitraries.of(true, false),
                        ends)
                .as(Step::new)
                .list()
                .ofMinSize(5)
                .ofMaxSize(40);
    }

    private static final TestDatabase POSTGRES = TestPostgres.createDatabase();

    private static final Machine ON_POSTGRES = new Machine(POSTGRES.jdbcUrl());

    private static final Machine ON_H2 = new Machine("jdbc:h2:mem:state-machine;LOCK_TIMEOUT=30000");

    @AfterContainer
    static void close() {
        ON_H2.close();
        ON_POSTGRES.close();
        POSTGRES.close();
    }

    @Property(tries = 100, shrinking = ShrinkingMode.BOUNDED)
    void postgresAgreesWithTheModel(@ForAll("steps") List<Step> steps) {
        ON_POSTGRES.take(steps);
    }

    /** H2's connections cannot be cut, so a crash is a rollback; H2 does not report waiting transactions either. */
    @Property(tries = 100, shrinking = ShrinkingMode.BOUNDED)
    void h2AgreesWithTheModel(@ForAll("steps") List<Step> steps) {
        ON_H2.take(steps);
    }

    /** The store, and the state that it is expected to have. */
    private static final class Machine {

        private final HikariDataSource dataSource = new HikariDataSource();
        private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
        private final JdbcProcessedMessageStore store;
        private final ProcessedMessagePurge purge;
        private final String setTime;
        private final boolean postgres;
        private final List<Consumer> consumers;

        private final Set<String> processed = new TreeSet<>();
        private final Set<String> old = new HashSet<>();
        private final Map<String, Integer> effects = new TreeMap<>();

        Machine(String url) {
            this.dataSource.setJdbcUrl(url);
            this.dataSource.setMaximumPoolSize(5);
            this.postgres = url.contains("postgresql");
            IdempotencyDatabase database = StoreServer.tablesIn(this.dataSource);
            this.jdbc.execute("create table effect (message varchar(10) not null)");
            this.store = new JdbcProcessedMessageStore(database, Duration.ofSeconds(30));
            this.purge = new ProcessedMessagePurge(database);
            this.setTime = "update idempotency_processed set processed_at = "
                    + database.dialect().timeOfSeconds() + " where message_id = ?";
            this.consumers = List.of(new Consumer(), new Consumer());
        }

        void take(List<Step> steps) {
            begin();
            try {
                steps.forEach(this::take);
            } finally {
                this.consumers.forEach(consumer -> consumer.end(End.ROLL_BACK));
            }
        }

        /** Adds rows that fix the cutoff: the retention counts from the last message, and skips longer pauses. */
        private void begin() {
            this.jdbc.update("delete from idempotency_processed");
            this.jdbc.update("delete from effect");
            this.processed.clear();
            this.old.clear();
            this.effects.clear();
            Consumer first = this.consumers.get(0);
            get(first.submit(() -> first.claim(List.of("now", "days ago"), false)));
            first.end(End.COMMIT);
            setTime("days ago", Duration.ofDays(5));
        }

        private void take(Step step) {
            Consumer consumer = this.consumers.get(step.consumer());
            switch (step.kind()) {
                case DELIVER -> deliver(consumer, this.consumers.get(1 - step.consumer()), step);
                case END -> consumer.end(step.end());
                case AGE ->
                    step.messages().stream().filter(this.processed::contains).forEach(message -> {
                        setTime(message, Duration.ofDays(9));
                        this.old.add(message);
                    });
                case CLEAN_UP -> {
                    assertThat(this.purge
                                    .purgeExpired("consumer", RETENTION, ProcessedMessagePurge.BEGINNING, 100)
                                    .rows())
                            .isEqualTo(this.old.size());
                    this.processed.removeAll(this.old);
                    this.old.clear();
                }
                case FORGET -> {
                    String message = step.messages().iterator().next();
                    assertThat(this.store.forget(id(message))).isEqualTo(this.processed.remove(message));
                    this.old.remove(message);
                }
            }
            agree();
        }

        /** Waits for a message that the other consumer has claimed, until that consumer's transaction ends. */
        private void deliver(Consumer consumer, Consumer other, Step step) {
            boolean waits = step.messages().stream().anyMatch(other.claimed::contains);
            Future<Set<String>> answer = consumer.submit(() -> consumer.claim(step.messages(), step.lookFirst()));
            if (waits && this.postgres) {
                Awaitility.await()
                        .atMost(Duration.ofSeconds(30))
                        .pollInterval(Duration.ofMillis(2))
                        .until(() -> this.jdbc.queryForObject(WAITING, Integer.class) > 0);
            }
            if (waits) {
                other.end(step.end());
            }
            Set<String> expected = new HashSet<>(step.messages());
            expected.removeAll(this.processed);
            expected.removeAll(consumer.claimed);
            assertThat(get(answer)).isEqualTo(expected);
            consumer.claimed.addAll(expected);
        }

        private void agree() {
            assertThat(this.store.find(ids(MESSAGES)).keySet()).isEqualTo(new HashSet<>(ids(this.processed)));
            Map<String, Integer> applied = new TreeMap<>();
            this.jdbc.query("select message, count(*) from effect group by message", row -> {
                applied.put(row.getString(1), row.getInt(2));
            });
            assertThat(applied).isEqualTo(this.effects);
        }

        private void setTime(String message, Duration ago) {
            this.jdbc.update(this.setTime, EpochSeconds.toDecimal(Instant.now().minus(ago)), message);
        }

        void close() {
            this.consumers.forEach(consumer -> consumer.thread.shutdownNow());
            this.dataSource.close();
        }

        /** A thread whose transaction begins at its first delivery. */
        private final class Consumer {

            private final ExecutorService thread = Executors.newSingleThreadExecutor();
            private final JdbcTransactionManager transactions = new JdbcTransactionManager(Machine.this.dataSource);
            private final Set<String> claimed = new HashSet<>();
            private TransactionStatus transaction;

            <T> Future<T> submit(Callable<T> work) {
                return this.thread.submit(work);
            }

            /** Claims messages and applies the new ones. */
            private Set<String> claim(Collection<String> messages, boolean lookFirst) {
                if (this.transaction == null) {
                    this.transaction = this.transactions.getTransaction(new DefaultTransactionDefinition());
                }
                List<Claim> claims = ids(messages).stream()
                        .map(id -> new Claim(id, new RecordCoordinates("topic", 0, 0)))
                        .toList();
                Set<MessageId> free =
                        lookFirst ? Machine.this.store.claimOrFind(claims).claimed() : Machine.this.store.claim(claims);
                free.stream()
                        .filter(id -> MESSAGES.contains(id.value()))
                        .forEach(id -> Machine.this.jdbc.update("insert into effect (message) values (?)", id.value()));
                return free.stream().map(MessageId::value).collect(Collectors.toSet());
            }

            void end(End end) {
                TransactionStatus open = this.transaction;
                if (open == null) {
                    return;
                }
                this.transaction = null;
                if (end == End.COMMIT) {
                    get(submit(() -> {
                        this.transactions.commit(open);
                        return true;
                    }));
                    Machine.this.processed.addAll(this.claimed);
                    this.claimed.forEach(message -> Machine.this.effects.merge(message, 1, Integer::sum));
                } else if (end == End.CRASH && Machine.this.postgres) {
                    crash(open);
                } else {
                    get(submit(() -> {
                        this.transactions.rollback(open);
                        return true;
                    }));
                }
                this.claimed.clear();
            }

            /** Cuts the connection, then tries to commit. */
            private void crash(TransactionStatus open) {
                Integer process =
                        get(submit(() -> Machine.this.jdbc.queryForObject("select pg_backend_pid()", Integer.class)));
                Machine.this.jdbc.queryForList("select pg_terminate_backend(?, 30000)", process);
                assertThatThrownBy(() -> get(submit(() -> {
                            this.transactions.commit(open);
                            return true;
                        })))
                        .isNotNull();
            }
        }
    }

    private static MessageId id(String message) {
        return new MessageId("consumer", message);
    }

    private static List<MessageId> ids(Collection<String> messages) {
        return messages.stream().map(StoreStateMachineIT::id).toList();
    }

    private static <T> T get(Future<T> answer) {
        try {
            return answer.get(60, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }
}
