package dev.idempotency.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.LockStatement;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
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
        createTopics(3, "record", "batch", "poll");
        createTopics(1, "many");
        start(
                Listeners.class,
                "idempotency.lock.timeout=30s",
                "idempotency.errors.max-attempts=2",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.max-interval=10ms",
                "idempotency.errors.outage.max-interval=10ms",
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
            for (String kind : List.of("record", "batch", "poll")) {
                send(kind, i % 3, "a " + i);
            }
        }
        CompletableFuture.allOf(code).orTimeout(60, TimeUnit.SECONDS).join();
        List.of("record", "batch", "poll").forEach(this::awaitCaughtUp);
        assertThat(this.sections.violations.get()).isZero();
        assertThat(this.sections.count("a")).as("no update was lost").isEqualTo(6 * EACH);
    }

    @Test
    void aDuplicateDoesNotWaitAndANewMessageHoldsNoConnectionMeanwhile() throws Exception {
        send("record", 0, "d 1");
        awaitCaughtUp("record");
        int duplicates = this.app.bean(Outcomes.class).duplicates.size();
        Holder holder = hold("account/d");
        for (int partition = 0; partition < 3; partition++) {
            send("record", partition, "d 1");
        }
        awaitCaughtUp("record");
        assertThat(this.app.bean(Outcomes.class).duplicates).hasSize(duplicates + 3);

        for (int partition = 0; partition < 3; partition++) {
            send("record", partition, "d new " + partition);
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
            send("many", 0, "m" + i + " 1");
        }
        Holder single = hold("account/m57");
        CountDownLatch leave = this.sections.stayIn("m99");
        this.app
                .bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer("many")
                .start();
        await().until(() -> waitingInMemory("account/m57") == 1);
        assertThat(effectsOf("many")).isEmpty();
        single.release();
        await().until(() -> this.sections.isInside("m99"));
        assertThat(advisoryLocks("objsubid = 2")).isEqualTo(stripes()).isLessThan(MANY);
        assertThat(advisoryLocks("objsubid = 1")).isZero();

        Process other = otherInstance("account/m57");
        try {
            await().until(() -> advisoryLocks("not granted") == 1);
            assertThat(advisoryLocks("objsubid = 1")).isZero();
            leave.countDown();
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
        send("record", 0, "k 1");
        await().until(() -> advisoryLocks("not granted") == 1);
        assertThat(this.sections.count("k")).isZero();
        other.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
        awaitCaughtUp("record");
        assertThat(this.sections.count("k")).isOne();
    }

    @Test
    void aLockEndsWithAListenerThatThrows() {
        send("record", 0, "t fails");
        awaitCaughtUp("record");
        assertThat(TopicContents.values(topic("record") + "-dlt")).contains("t fails");
        send("poll", 0, "t 1");
        awaitCaughtUp("poll");
        assertThat(this.sections.count("t")).isOne();
    }

    @ParameterizedTest
    @EnumSource(
            value = StoreServer.class,
            names = {"MARIADB", "H2"})
    void soItIsOnOtherDatabases(StoreServer server) {
        String topic = TestKafka.createTopic("other", 3);
        try (TestApplication other =
                TestApplication.start(server.emptyDatabase(), List.of("topic=" + topic), OnOtherDatabases.class)) {
            IdempotentOperations own = other.bean(IdempotentOperations.class);
            TransactionTemplate template = new TransactionTemplate(other.bean(PlatformTransactionManager.class));
            for (int i = 0; i < EACH; i++) {
                other.send(topic, "a " + i, "a " + i);
                template.executeWithoutResult(status -> {
                    own.lock("account/a");
                    other.bean(Sections.class).enter("a");
                });
            }
            other.awaitCaughtUp(topic, topic);
            assertThat(other.bean(Sections.class).violations.get()).isZero();
            assertThat(other.bean(Sections.class).count("a")).isEqualTo(2 * EACH);
        }
    }

    @Import(Sections.class)
    static class OnOtherDatabases {

        @Autowired
        private Sections sections;

        @KafkaListener(topics = "${topic}", groupId = "${topic}", concurrency = "3")
        @IdempotentListener(lock = Listeners.LOCK)
        void on(String payload) {
            this.sections.enter(payload);
        }
    }

    /** Those of one instance wait in memory, those of others in the database. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoeverWaitsForTooLongIsRetriedUntilItGetsTheLock(boolean sameInstance) throws Exception {
        String topic = TestKafka.createTopic("impatient", 1);
        List<String> properties = List.of(
                "topic=" + topic,
                "idempotency.lock.timeout=1s",
                "idempotency.errors.max-attempts=2",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.outage.max-interval=10ms");
        String payload = "i" + sameInstance + " 1";
        try (TestApplication impatient = TestApplication.start(this.database, properties, Impatient.class)) {
            IdempotentOperations owner = sameInstance ? impatient.bean(IdempotentOperations.class) : this.operations;
            PlatformTransactionManager manager =
                    (sameInstance ? impatient : this.app).bean(PlatformTransactionManager.class);
            Holder holder = hold("account/" + payload.split(" ")[0], owner, new TransactionTemplate(manager));
            impatient.send(topic, payload, payload);
            await().until(() -> impatient.bean(Outcomes.class).retried.get() > 2);
            assertThat(effectsOf("impatient")).isEmpty();
            holder.release();
            impatient.awaitCaughtUp("impatient" + topic, topic);
            assertThat(effectsOf("impatient")).containsOnlyOnce("impatient " + payload);
            assertThat(TopicContents.values(topic + "-dlt")).isEmpty();
            impatient.jdbc().update("delete from effect where name like 'impatient%'");
        }
    }

    @Import({Effects.class, Outcomes.class})
    static class Impatient {

        @Autowired
        private Effects effects;

        @KafkaListener(topics = "${topic}", groupId = "impatient${topic}")
        @IdempotentListener(lock = Listeners.LOCK)
        void on(String payload) {
            this.effects.happen("impatient " + payload);
        }
    }

    /** Holds a lock in this instance. */
    private Holder hold(String key) throws InterruptedException {
        return hold(key, this.operations, this.transaction);
    }

    private static Holder hold(String key, IdempotentOperations operations, TransactionTemplate transaction)
            throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Void> thread = CompletableFuture.runAsync(() -> transaction.executeWithoutResult(status -> {
            operations.lock(key);
            held.countDown();
            pass(end);
        }));
        assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
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
            BusinessKeyLocks locks = new BusinessKeyLocks(
                    new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null),
                    Duration.ofMinutes(1));
            new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult(status -> {
                locks.lock(arguments[1]);
                new CompletableFuture<>().join();
            });
        }
    }

    private int waitingInMemory(String key) {
        int stripe =
                LockStatement.stripesOf(List.of(BusinessKeyLocks.hash(key))).first();
        return this.app.bean(BusinessKeyLocks.class).queues.get(stripe).getQueueLength();
    }

    private static int stripes() {
        return LockStatement.stripesOf(IntStream.range(0, MANY)
                        .mapToObj(i -> BusinessKeyLocks.hash("account/m" + i))
                        .toList())
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

    private void send(String kind, int partition, String payload) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic(kind), partition, null, payload);
        record.headers().add("message-id", payload.getBytes(StandardCharsets.UTF_8));
        this.app.send(record);
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

        @KafkaListener(topics = "batch${suffix}", groupId = "batch${suffix}", concurrency = "3", batch = "true")
        @IdempotentListener(lock = LOCK)
        void batch(List<String> payloads) {
            payloads.forEach(this.sections::enter);
        }

        @KafkaListener(topics = "poll${suffix}", groupId = "poll${suffix}", concurrency = "3")
        @IdempotentListener(lock = "'account/' + #record.value().split(' ')[0]", transactionPerPoll = "true")
        void poll(String payload) {
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

    /** Sections that only one may be in, until its transaction ends; each counts by reading first and then writing. */
    static class Sections {

        final AtomicInteger violations = new AtomicInteger();
        private final Map<String, String> inside = new ConcurrentHashMap<>();
        private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
        private final JdbcTemplate jdbc;

        Sections(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table section (name varchar(100) primary key, entries integer not null)");
        }

        void enter(String payload) {
            String name = payload.split(" ")[0];
            String thread = Thread.currentThread().getName();
            String other = this.inside.put(name, thread);
            if (other != null && !other.equals(thread)) {
                this.violations.incrementAndGet();
            }
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void beforeCompletion() {
                    Sections.this.inside.remove(name);
                }
            });
            List<Integer> entries = entriesOf(name);
            if (this.gates.containsKey(name)) {
                pass(this.gates.get(name));
            }
            if (payload.endsWith("fails")) {
                throw new IllegalStateException("told to fail");
            }
            if (entries.isEmpty()) {
                this.jdbc.update("insert into section (name, entries) values (?, 1)", name);
            } else {
                this.jdbc.update("update section set entries = ? where name = ?", entries.get(0) + 1, name);
            }
        }

        CountDownLatch stayIn(String name) {
            return this.gates.computeIfAbsent(name, any -> new CountDownLatch(1));
        }

        boolean isInside(String name) {
            return this.inside.containsKey(name);
        }

        int count(String name) {
            return entriesOf(name).stream().mapToInt(Integer::intValue).sum();
        }

        private List<Integer> entriesOf(String name) {
            return this.jdbc.queryForList("select entries from section where name = ?", Integer.class, name);
        }
    }
}
