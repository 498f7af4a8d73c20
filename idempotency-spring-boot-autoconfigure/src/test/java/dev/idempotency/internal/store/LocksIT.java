package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Listeners and code that lock the same business key. Payloads begin with their keys: {@code <key> <number>}. */
class LocksIT extends SharedApplicationTest {

    private TransactionTemplate transaction;
    private IdempotentOperations operations;

    @BeforeAll
    void start() {
        createTopics(3, "record");
        start(Listeners.class, "idempotency.lock.timeout=30s", "spring.datasource.hikari.maximum-pool-size=15");
        this.transaction = new TransactionTemplate(this.app.bean(PlatformTransactionManager.class));
        this.operations = this.app.bean(IdempotentOperations.class);
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
        assertThat(effectsOf("d")).hasSize(1);
        holder.release();
        awaitCaughtUp("record");
        assertThat(effectsOf("d")).hasSize(4);
    }

    /** Holds a lock from code, in this instance. */
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

    private int waitingInMemory(String key) {
        int stripe = BusinessKeyLocks.stripesOf(List.of(key)).first();
        return this.app.bean(BusinessKeyLocks.class).queues.get(stripe).getQueueLength();
    }

    private static void pass(CountDownLatch gate) {
        try {
            assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Import(Outcomes.class)
    static class Listeners extends HasEffects {

        @KafkaListener(topics = "record${suffix}", groupId = "record${suffix}", concurrency = "3")
        @IdempotentListener(lock = "'account/' + #payload.split(' ')[0]")
        void record(String payload) {
            this.effects.happen(payload);
        }
    }
}
