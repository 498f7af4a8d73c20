package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Listeners and code that name the same business key. Payloads begin with their keys: {@code <key> <number>}. */
class LocksIT extends SharedApplicationTest {

    private static final int EACH = 40;
    private static final int MANY = 100;

    private TransactionTemplate transaction;
    private IdempotentOperations operations;
    private Sections sections;

    @BeforeAll
    void start() {
        createTopics(3, "record");
        createTopics(1, "many");
        start(
                Listeners.class,
                "idempotency.lock.timeout=30s",
                "spring.datasource.hikari.maximum-pool-size=15",
                "spring.kafka.consumer.max-poll-records=" + MANY);
        this.transaction = new TransactionTemplate(this.app.bean(PlatformTransactionManager.class));
        this.operations = this.app.bean(IdempotentOperations.class);
        this.sections = this.app.bean(Sections.class);
    }

    @Test
    void listenersAndCodeThatNameTheSameKeyNeverRunAtOnce() {
        CompletableFuture<?>[] code = IntStream.range(0, 3)
                .mapToObj(thread -> CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < EACH; i++) {
                        this.transaction.executeWithoutResult(status -> {
                            this.operations.lock("account/a");
                            this.sections.enter("a");
                        });
                    }
                }))
                .toArray(CompletableFuture[]::new);
        for (int i = 0; i < EACH; i++) {
            sendTo("record", i % 3, "a " + i);
        }
        CompletableFuture.allOf(code).orTimeout(60, TimeUnit.SECONDS).join();
        awaitCaughtUp("record");
        assertThat(this.sections.count("a")).as("no update was lost").isEqualTo(4 * EACH);
    }

    @Test
    void aDuplicateDoesNotWaitAndANewMessageHoldsNoConnectionMeanwhile() throws Exception {
        sendTo("record", 0, "d 1");
        awaitCaughtUp("record");
        int duplicates = this.app.bean(Outcomes.class).duplicates.size();
        Holder holder = hold("account/d");
        for (int partition = 0; partition < 3; partition++) {
            sendTo("record", partition, "d 1");
        }
        awaitCaughtUp("record");
        assertThat(this.app.bean(Outcomes.class).duplicates).hasSize(duplicates + 3);

        for (int partition = 0; partition < 3; partition++) {
            sendTo("record", partition, "d new " + partition);
        }
        await().until(() -> waitingInMemory("account/d") == 3);
        await("the holder's connection alone")
                .until(() -> this.app
                                .bean(HikariDataSource.class)
                                .getHikariPoolMXBean()
                                .getActiveConnections()
                        == 1);
        assertThat(this.sections.count("d")).isOne();
        holder.release();
        awaitCaughtUp("record");
        assertThat(this.sections.count("d")).isEqualTo(4);
    }

    @Test
    void aBatchWithManyKeysAndASingleKeyExcludeEachOther() throws Exception {
        for (int i = 0; i < MANY; i++) {
            sendTo("many", 0, "m" + i + " 1");
        }
        Holder single = hold("account/m57");
        Gate gate = this.sections.stayIn("m99");
        containerOf("many").start();
        await().until(() -> waitingInMemory("account/m57") == 1);
        assertThat(effectsOf("many")).isEmpty();
        single.release();
        pass(gate.entered());
        assertThat(advisoryLocks("objsubid = 2")).isEqualTo(stripes()).isLessThan(MANY);
        assertThat(advisoryLocks("objsubid = 1")).isZero();

        Process other = otherInstance("account/m57");
        try {
            await().until(() -> advisoryLocks("not granted") == 1);
            assertThat(advisoryLocks("objsubid = 1")).isZero();
            gate.leave().countDown();
            awaitCaughtUp("many");
            assertThat(effectsOf("many")).hasSize(1);
            await().until(() -> advisoryLocks("objsubid = 1") == 1);
        } finally {
            other.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aLockEndsWithItsProcess() throws Exception {
        Process other = otherInstance("account/k");
        await().until(() -> advisoryLocks("granted and objsubid = 1") > 0);
        sendTo("record", 0, "k 1");
        await().until(() -> advisoryLocks("not granted") == 1);
        assertThat(this.sections.count("k")).isZero();
        other.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
        awaitCaughtUp("record");
        assertThat(this.sections.count("k")).isOne();
    }

    /** Holds a lock in this instance. */
    private Holder hold(String key) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Void> thread =
                CompletableFuture.runAsync(() -> this.transaction.executeWithoutResult(status -> {
                    this.operations.lock(key);
                    held.countDown();
                    pass(end);
                }));
        pass(held);
        return new Holder(thread, end);
    }

    private record Holder(CompletableFuture<Void> thread, CountDownLatch end) {

        void release() throws Exception {
            this.end.countDown();
            this.thread.get(30, TimeUnit.SECONDS);
        }
    }

    private Process otherInstance(String key) throws Exception {
        return ChildJvm.start(OtherInstance.class, "locks", this.database.jdbcUrl(), key);
    }

    /** Locks a key until it is killed. */
    static final class OtherInstance {

        private OtherInstance() {}

        public static void main(String[] arguments) {
            DriverManagerDataSource dataSource = new DriverManagerDataSource(arguments[0]);
            BusinessKeyLocks locks = new BusinessKeyLocks(StoreServer.databaseOf(dataSource), Duration.ofMinutes(1));
            new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult(status -> {
                locks.lock(arguments[1]);
                new CompletableFuture<>().join();
            });
        }
    }

    private int waitingInMemory(String key) {
        int stripe = BusinessKeyLocks.stripesOf(List.of(key)).first();
        return this.app.bean(BusinessKeyLocks.class).queues.get(stripe).getQueueLength();
    }

    private static int stripes() {
        return BusinessKeyLocks.stripesOf(
                        IntStream.range(0, MANY).mapToObj(i -> "account/m" + i).toList())
                .size();
    }

    private int advisoryLocks(String condition) {
        return this.app
                .jdbc()
                .queryForObject(
                        "select count(*) from pg_locks where locktype = 'advisory' and database ="
                                + " (select oid from pg_database where datname = current_database()) and " + condition,
                        Integer.class);
    }

    private static void pass(CountDownLatch gate) {
        try {
            assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Import({Effects.class, Outcomes.class, Sections.class})
    static class Listeners {

        static final String LOCK = "'account/' + #payload.split(' ')[0]";

        private final Sections sections;
        private final Effects effects;

        Listeners(Sections sections, Effects effects) {
            this.sections = sections;
            this.effects = effects;
        }

        @KafkaListener(topics = "record${suffix}", groupId = "record${suffix}", concurrency = "3")
        @IdempotentListener(lock = LOCK)
        void record(String payload) {
            this.sections.enter(payload);
        }

        @KafkaListener(
                id = "many",
                topics = "many${suffix}",
                groupId = "many${suffix}",
                batch = "true",
                autoStartup = "false")
        @IdempotentListener(lock = LOCK)
        void many(List<String> payloads) {
            this.effects.happen("many of " + payloads.size());
            payloads.forEach(this.sections::enter);
        }
    }

    private record Gate(CountDownLatch entered, CountDownLatch leave) {}

    /** Sections that only one may be in, until its transaction ends; each counts by reading first and then writing. */
    static class Sections {

        private final Map<String, Gate> gates = new ConcurrentHashMap<>();
        private final JdbcTemplate jdbc;

        Sections(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table section (name varchar(100) primary key, entries integer not null)");
        }

        void enter(String payload) {
            String name = payload.split(" ")[0];
            int entries = count(name);
            Gate gate = this.gates.get(name);
            if (gate != null) {
                gate.entered().countDown();
                pass(gate.leave());
            }
            this.jdbc.update(
                    (entries == 0)
                            ? "insert into section (entries, name) values (?, ?)"
                            : "update section set entries = ? where name = ?",
                    entries + 1,
                    name);
        }

        Gate stayIn(String name) {
            return this.gates.computeIfAbsent(name, any -> new Gate(new CountDownLatch(1), new CountDownLatch(1)));
        }

        int count(String name) {
            return this.jdbc.queryForList("select entries from section where name = ?", Integer.class, name).stream()
                    .mapToInt(Integer::intValue)
                    .sum();
        }
    }
}
