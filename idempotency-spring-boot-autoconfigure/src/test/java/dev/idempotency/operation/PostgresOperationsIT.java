package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Execution;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.StoreFailedException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

class PostgresOperationsIT extends AbstractOperationsIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        return this.database.jdbcUrl();
    }

    @Override
    String waiting() {
        return "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    }

    @Override
    void age(String table, String key, double days) {
        this.jdbc.update(
                "update " + table + " set processed_at = processed_at - ? * interval '1 day' where message_id = ?",
                days,
                key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aConcurrentDuplicateIsFoundAtEveryIsolation(String isolation) throws Exception {
        isolate(isolation);
        try {
            IdempotentOperations patient = operationsWith(Duration.ofSeconds(30), null);
            CountDownLatch claimed = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<?> first = this.threads.submit(() -> patient.execute(id("a"), String.class, () -> {
                claimed.countDown();
                await(end);
                return "first";
            }));
            await(claimed);
            Future<Execution<String>> second =
                    this.threads.submit(() -> patient.execute(id("a"), String.class, () -> "second"));
            awaitWaiting(1);
            end.countDown();
            join(first);
            assertThat(second.get(30, TimeUnit.SECONDS).result()).isEqualTo("first");
        } finally {
            isolate("read committed");
        }
    }

    /** Has the connections of the pool begin transactions so. */
    private void isolate(String isolation) {
        this.jdbc.execute("alter database \"%s\" set default_transaction_isolation = '%s'"
                .formatted(this.jdbc.queryForObject("select current_database()", String.class), isolation));
        // One that was being opened meanwhile may have the old one.
        Awaitility.await(isolation).until(() -> {
            this.app.bean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
            return isolation.equals(this.jdbc.queryForObject("show transaction_isolation", String.class));
        });
    }

    @Test
    void aTransactionWhoseIsolationHidesADuplicateIsToldSo() {
        TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
        isolated.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        assertThatExceptionOfType(StoreFailedException.class)
                .isThrownBy(() -> isolated.executeWithoutResult(status -> {
                    effects();
                    elsewhere(() -> isDuplicate("a"));
                    this.operations.execute(id("a"), () -> {});
                }))
                .withMessageContaining("REPEATABLE READ")
                .withMessageContaining("READ COMMITTED")
                .withMessageNotContaining("tables");
    }

    @Test
    void aTransactionThatTheDatabaseHasGivenUpIsNoSuccess() {
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), this::failAndCatch))
                .withMessageContaining("receipts:a");
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), String.class, () -> {
                    failAndCatch();
                    return "done";
                }));
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(status -> {
                    this.operations.claim(id("a"));
                    failAndCatch();
                }));
        assertThat(this.operations.execute(id("a"), () -> {}).duplicate()).isFalse();
    }

    private void failAndCatch() {
        happen("before");
        try {
            happen(null);
        } catch (DataIntegrityViolationException ex) {
            // As some do.
        }
    }
}
