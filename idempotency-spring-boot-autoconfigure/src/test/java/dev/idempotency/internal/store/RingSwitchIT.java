package dev.idempotency.internal.store;

import static dev.idempotency.internal.store.RingServer.claims;
import static dev.idempotency.internal.store.RingServer.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import dev.idempotency.MessageId;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Switches a table to a ring while two instances keep claiming, with the steps of docs/retention.md. */
class RingSwitchIT {

    private static final int DELIVERIES_PER_STEP = 400;

    private final RingServer server = new RingServer();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicReferenceArray<JdbcProcessedMessageStore> instances = new AtomicReferenceArray<>(2);
    private final List<String> ids = new CopyOnWriteArrayList<>();
    private final Set<String> applied = ConcurrentHashMap.newKeySet();
    private final AtomicInteger deliveries = new AtomicInteger();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private volatile boolean stopped;

    @AfterEach
    void close() {
        this.stopped = true;
        this.threads.shutdownNow();
        this.server.close();
    }

    /** Restarts an instance, and lets both work for a while. */
    private void restart(int instance, RetentionMode mode) {
        this.instances.set(instance, this.server.start(mode));
        awaitTraffic();
    }

    private String state() {
        return this.server.jdbc.queryForObject("select state from idempotency_ring", String.class);
    }

    private void step(String state) {
        this.server.transaction.executeWithoutResult(status -> {
            this.server.jdbc.execute("lock table idempotency_ring in exclusive mode");
            this.server.jdbc.update("update idempotency_ring set state = ?", state);
        });
    }

    /** Delivers new and old messages to random instances, some to both at once; some transactions fail. */
    private void deliver(long seed) {
        Random random = new Random(seed);
        while (!this.stopped) {
            List<String> some = new ArrayList<>();
            for (int i = random.nextInt(1, 6); i > 0; i--) {
                int recent = Math.min(this.ids.size(), 40);
                boolean old = recent > 0 && random.nextBoolean();
                String id = old
                        ? this.ids.get(this.ids.size() - 1 - random.nextInt(recent))
                        : (random.nextInt(10) == 0) ? "order-" + random.nextLong() : id(Instant.now());
                if (!old) {
                    this.ids.add(id);
                }
                if (!some.contains(id)) {
                    some.add(id);
                }
            }
            try {
                deliver(some, this.instances.get(random.nextInt(2)), random.nextInt(10) == 0);
            } catch (DataAccessException ex) {
                this.failures.add(ex);
            }
            this.deliveries.incrementAndGet();
        }
    }

    private void deliver(List<String> some, ProcessedMessageStore store, boolean fails) {
        List<String> done = this.server.transaction.execute(status -> {
            List<String> free = store.claim(claims("billing", some.toArray(String[]::new))).stream()
                    .map(MessageId::value)
                    .toList();
            free.forEach(id -> this.server.jdbc.update("insert into effect values (?)", id));
            if (fails) {
                status.setRollbackOnly();
            }
            return free;
        });
        if (!fails) {
            this.applied.addAll(done);
        }
    }

    private void awaitTraffic() {
        int before = this.deliveries.get();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> this.deliveries.get() >= before + DELIVERIES_PER_STEP);
    }

    @Test
    void noStepUnderTrafficLetsADuplicateIn() throws InterruptedException {
        this.instances.set(0, this.server.start(RetentionMode.DELETE));
        this.instances.set(1, this.server.start(RetentionMode.DELETE));
        this.server.jdbc.execute("create table effect (id varchar(255) not null)");
        for (int i = 0; i < 4; i++) {
            long seed = i;
            this.threads.submit(() -> deliver(seed));
        }
        awaitTraffic();
        restart(1, RetentionMode.RING);
        assertThat(state()).isEqualTo("both");
        restart(0, RetentionMode.DELETE);
        restart(0, RetentionMode.RING);
        step("drain");
        awaitTraffic();
        restart(1, RetentionMode.RING);
        restart(0, RetentionMode.RING);
        assertThatException()
                .isThrownBy(() -> step("ring"))
                .withStackTraceContaining("still has ids that belong into a slot");
        // One retention later: messages that only the table knows are no longer redelivered.
        this.server.jdbc.update("delete from only idempotency_processed where message_id not like 'order-%'");
        step("ring");
        awaitTraffic();
        restart(1, RetentionMode.RING);
        restart(0, RetentionMode.RING);
        this.stopped = true;
        this.threads.shutdown();
        assertThat(this.threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        assertThat(this.server.jdbc.queryForList("select id from effect group by id having count(*) > 1", String.class))
                .isEmpty();
        assertThat(this.server.count("effect")).isEqualTo(this.applied.size());
        // A claim that is in progress during a step may fail.
        assertThat(this.failures)
                .allSatisfy(failure -> assertThat(failure).hasStackTraceContaining("belongs into a slot of the ring"));
    }

    /** Otherwise an instance that reads the table after the step would miss the claim. */
    @Test
    void aStepWaitsForClaimsOfInstancesWithoutTheRing() {
        JdbcProcessedMessageStore old = this.server.start(RetentionMode.DELETE);
        this.server.claim(old, "billing", "any");
        this.server.start(RetentionMode.RING);
        assertThat(state()).isEqualTo("both");
        String id = id(Instant.now());
        CompletableFuture<Void> step = this.server.transaction.execute(status -> {
            assertThat(old.claim(claims("billing", id))).hasSize(1);
            CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> step("drain"));
            this.server.awaitWaiting();
            return taken;
        });
        step.join();
        JdbcProcessedMessageStore ring = this.server.start(RetentionMode.RING);
        assertThat(this.server.claim(ring, "billing", id)).isEmpty();
        assertThatException()
                .isThrownBy(() -> this.server.claim(old, "billing", id(Instant.now())))
                .withStackTraceContaining("belongs into a slot of the ring");
    }

    /** Without rows there is nothing to switch, unless a transaction is about to commit one. */
    @Test
    void theFirstStartWaitsForClaimsOfInstancesWithoutTheRing() {
        JdbcProcessedMessageStore old = this.server.start(RetentionMode.DELETE);
        String id = id(Instant.now());
        CompletableFuture<JdbcProcessedMessageStore> started = this.server.transaction.execute(status -> {
            assertThat(old.claim(claims("billing", id))).hasSize(1);
            CompletableFuture<JdbcProcessedMessageStore> other =
                    CompletableFuture.supplyAsync(() -> this.server.start(RetentionMode.RING));
            this.server.awaitWaiting();
            return other;
        });
        assertThat(this.server.claim(started.join(), "billing", id)).isEmpty();
        assertThat(state()).isEqualTo("both");
    }

    /** A look-up during a switch finds rows in the table and in slots; each id is in only one of them. */
    @Test
    void duringASwitchBothAreLookedAt() {
        JdbcProcessedMessageStore old = this.server.start(RetentionMode.DELETE);
        String before = id(Instant.now());
        this.server.claim(old, "billing", before);
        for (String state : List.of("both", "drain")) {
            if (state.equals("drain")) {
                step(state);
            }
            JdbcProcessedMessageStore ring = this.server.start(RetentionMode.RING);
            String since = id(Instant.now());
            assertThat(this.server.claim(ring, "billing", before, since, "order-" + state))
                    .extracting(MessageId::value)
                    .containsExactlyInAnyOrder(since, "order-" + state);
            assertThat(ring.find(List.of(new MessageId("billing", before), new MessageId("billing", since))))
                    .hasSize(2);
            assertThat(ring.find(List.of(new MessageId("billing", before))).values())
                    .extracting(ProcessedMessage::coordinates)
                    .containsExactly(RingServer.SOMEWHERE);
            assertThat(this.server.count("only idempotency_processed where message_id = '" + since + "'"))
                    .isEqualTo(state.equals("both") ? 1 : 0);
            assertThat(this.server.count("idempotency_processed where message_id = '" + since + "'"))
                    .isEqualTo(1);
            assertThat(ring.forget(new MessageId("billing", since))).isTrue();
            assertThat(ring.find(List.of(new MessageId("billing", since)))).isEmpty();
            assertThat(this.server.claim(ring, "billing", since)).hasSize(1);
        }
    }

    /** It would miss claims that were made in the table before the step, although the step is known to the instance. */
    @Test
    void aTransactionThatBeganBeforeAStepDoesNotTakeIt() {
        JdbcProcessedMessageStore old = this.server.start(RetentionMode.DELETE);
        this.server.claim(old, "billing", "any");
        JdbcProcessedMessageStore ring = this.server.start(RetentionMode.RING);
        String id = id(Instant.now());
        TransactionTemplate repeatable = new TransactionTemplate(this.server.transaction.getTransactionManager());
        repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        assertThatException()
                .isThrownBy(() -> repeatable.executeWithoutResult(status -> {
                    this.server.count("idempotency_ring");
                    CompletableFuture.runAsync(() -> {
                                this.server.claim(old, "billing", id);
                                step("drain");
                                this.server.claim(ring, "billing", id(Instant.now()));
                            })
                            .join();
                    assertThat(ring.claim(claims("billing", id))).isEmpty();
                }))
                .withStackTraceContaining("could not serialize access");
        assertThat(this.server.claim(ring, "billing", id)).isEmpty();
    }
}
