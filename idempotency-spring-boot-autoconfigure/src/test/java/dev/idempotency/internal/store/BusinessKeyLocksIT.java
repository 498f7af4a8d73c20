package dev.idempotency.internal.store;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.LockTimeoutException;
import dev.idempotency.StoreFailedException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks of business keys, in several instances each, on every database. */
class BusinessKeyLocksIT extends StoreTest {

    private static final int KEYS = 200;

    @BeforeEach
    void prepare() {
        this.jdbc.execute("create table if not exists balance (account integer primary key, amount integer not null)");
        this.jdbc.update("delete from balance");
        IntStream.range(0, KEYS)
                .forEach(i -> this.jdbc.update("insert into balance (account, amount) values (?, 0)", i));
    }

    private BusinessKeyLocks instance(Duration timeout) {
        return new BusinessKeyLocks(this.database, timeout);
    }

    /** PostgreSQL locks few keys individually and many keys by stripe: each way must exclude the other. */
    @Test
    void transactionsWithKeysInCommonRunOneAfterTheOther() {
        int[] expected = new int[KEYS];
        CompletableFuture.allOf(IntStream.range(0, 4)
                        .mapToObj(number -> {
                            Random random = new Random(number);
                            List<Set<Integer>> work = IntStream.range(0, 12)
                                    .mapToObj(i -> accounts(
                                            random, List.of(1, 7, 90, 120).get((number + i) % 4)))
                                    .toList();
                            work.forEach(accounts -> accounts.forEach(account -> expected[account]++));
                            return CompletableFuture.runAsync(() -> {
                                BusinessKeyLocks locks = instance(Duration.ofSeconds(60));
                                work.forEach(accounts -> this.transaction.executeWithoutResult(status -> {
                                    locks.attempt().lock(keys(accounts));
                                    book(accounts);
                                }));
                            });
                        })
                        .toArray(CompletableFuture[]::new))
                .orTimeout(120, TimeUnit.SECONDS)
                .join();
        assertThat(this.jdbc.queryForList("select amount from balance order by account", Integer.class))
                .containsExactlyElementsOf(IntStream.of(expected).boxed().toList());
    }

    /** Small sets use low numbers, so that transactions share keys. */
    private static Set<Integer> accounts(Random random, int count) {
        Set<Integer> accounts = new HashSet<>();
        while (accounts.size() < count) {
            accounts.add(random.nextInt(count < 10 ? 10 : KEYS));
        }
        return accounts;
    }

    private static List<String> keys(Collection<Integer> accounts) {
        return accounts.stream().map(account -> "account/" + account).toList();
    }

    /** Reads, then writes, so that concurrent updates would be lost. */
    private void book(Collection<Integer> accounts) {
        for (int account : accounts) {
            int amount =
                    this.jdbc.queryForObject("select amount from balance where account = ?", Integer.class, account);
            this.jdbc.update("update balance set amount = ? where account = ?", amount + 1, account);
        }
    }

    @Test
    void manyKeysTakeNoMoreLocksThanThereAreStripes() {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        List<String> keys = keys(IntStream.range(0, KEYS).boxed().toList());
        this.transaction.executeWithoutResult(status -> {
            instance(PATIENCE).attempt().lock(keys);
            String held = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()";
            assertThat(this.jdbc.queryForObject(held, Integer.class))
                    .isEqualTo(BusinessKeyLocks.stripesOf(keys).size());
        });
    }

    @Test
    void whoeverWaitsForTooLongIsToldSoAndCanTryAgain() throws Exception {
        BusinessKeyLocks impatient = instance(Duration.ofSeconds(1));
        CompletableFuture<Void> locked = new CompletableFuture<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        CompletableFuture<Void> holder =
                CompletableFuture.runAsync(() -> this.transaction.executeWithoutResult(status -> {
                    instance(PATIENCE).lock("a");
                    locked.complete(null);
                    end.orTimeout(30, TimeUnit.SECONDS).join();
                }));
        locked.get(30, TimeUnit.SECONDS);
        assertThrown(
                LockTimeoutException.class,
                () -> this.transaction.executeWithoutResult(status -> impatient.lock("a")),
                "lock of [a]",
                "idempotency.lock.timeout (PT1S)");
        end.complete(null);
        holder.get(30, TimeUnit.SECONDS);
        this.transaction.executeWithoutResult(status -> {
            impatient.lock("a");
            impatient.lock("a");
        });
        assertThat(impatient.attempt().enter(List.of("a"), false))
                .as("released")
                .isTrue();
    }

    @Test
    void aLockIsRefusedWhereItWouldProtectNothing() {
        BusinessKeyLocks locks = instance(Duration.ofSeconds(1));
        assertThrown(IllegalStateException.class, () -> locks.lock("a"), "@Transactional");
        assertThrown(
                IllegalArgumentException.class, () -> this.transaction.executeWithoutResult(status -> locks.lock(" ")));
        TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
        isolated.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        assertThrown(
                IllegalStateException.class,
                () -> isolated.executeWithoutResult(status -> locks.lock("a")),
                "READ COMMITTED");
    }

    @Test
    void aMissingRowIsNoLock() {
        Assumptions.assumeFalse(this.server == StoreServer.POSTGRES, "PostgreSQL needs no rows");
        BusinessKeyLocks locks = instance(Duration.ofSeconds(1));
        assertThrown(
                StoreFailedException.class,
                () -> this.transaction.executeWithoutResult(status -> {
                    this.jdbc.update("delete from idempotency_lock");
                    locks.lock("a");
                }),
                "Run the script");
    }
}
