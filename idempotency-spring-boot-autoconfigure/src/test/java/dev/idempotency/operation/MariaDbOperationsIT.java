package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class MariaDbOperationsIT extends AbstractHostileOperationsIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow();
    }

    @Override
    String waiting() {
        return "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
    }

    @Override
    void age(String table, String key, double days) {
        jdbc().update(
                        "update " + table + " set processed_at = processed_at - interval ? second where message_id = ?",
                        Math.round(days * 86_400),
                        key);
    }

    @Test
    void anIdIsNotLeftClaimedIfWhatWatchesOverItIsHeldUp() throws Exception {
        operations().execute(id("b"), () -> {});
        operations().execute(id("z"), () -> {});
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Future<?> holder = threads().submit(() -> transaction().executeWithoutResult(status -> {
            jdbc().queryForList("select * from idempotency_processed where consumer_id = 'receipts'"
                    + " and message_id > 'c' and message_id < 'y' for update");
            locked.countDown();
            try {
                end.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }));
        assertThat(locked.await(30, TimeUnit.SECONDS)).isTrue();
        try {
            transaction().executeWithoutResult(status -> {
                try {
                    operations().claim(id("a"));
                } catch (ClaimTimeoutException ex) {
                    // As one does who leaves it out, and commits what he has.
                }
            });
        } catch (TransactionLostException ex) {
            // It is refused.
        } finally {
            end.countDown();
            holder.get(30, TimeUnit.SECONDS);
        }
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }
}
