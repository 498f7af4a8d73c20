package dev.idempotency.internal.store;

import dev.idempotency.LockTimeoutException;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Sha256;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * Locks business keys until the end of a transaction. The database excludes other instances. Listeners of this instance wait for
 * each other in memory, before their transaction begins, so that they hold no connection.
 */
public final class BusinessKeyLocks {

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final Duration timeout;

    /** One per stripe, in the order in which they are entered. Waiting threads enter in the order of their arrival. */
    final List<Semaphore> queues =
            Stream.generate(() -> new Semaphore(1, true)).limit(Dialect.STRIPES).toList();

    /** {@code timeout} is how long to wait for a lock. */
    public BusinessKeyLocks(IdempotencyDatabase database, Duration timeout) {
        this.database = database;
        this.timeout = timeout;
        this.transaction = new ClaimTransaction(database, timeout);
    }

    /** Begins to wait for locks on behalf of one transaction, or of several of which all but the last are rolled back. */
    public Attempt attempt() {
        return new Attempt();
    }

    /**
     * Locks a key until the end of the current transaction.
     *
     * @throws IllegalStateException if there is none, or it may see what was there before the lock
     */
    public void lock(@Nullable String key) {
        Assert.hasText(key, "There is no key to lock");
        Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
        Assert.state(
                this.database.isInTransaction()
                        && TransactionSynchronizationManager.isSynchronizationActive()
                        && !readsSnapshot(
                                Objects.requireNonNullElse(isolation, TransactionDefinition.ISOLATION_DEFAULT)),
                () ->
                        "'%s' cannot be locked: a lock ends with its transaction, which must be open, of the store's DataSource, and READ COMMITTED: others may see what was there before the lock. Lock in a @Transactional method, a TransactionTemplate, or the work of execute(…)."
                                .formatted(key));
        Attempt attempt = attempt();
        TransactionSynchronizationManager.registerSynchronization(attempt);
        // Listeners of this instance then wait in memory. Code waits in the database, as its transaction is open.
        attempt.enter(List.of(key), false);
        attempt.lock(List.of(key));
    }

    /** Whether transactions may see data that is older than their lock. By default, some databases look with the first read. */
    public boolean readsSnapshot(int isolation) {
        boolean byDefault = isolation == TransactionDefinition.ISOLATION_DEFAULT
                && this.database.dialect().currentRead().isEmpty();
        ConnectionCallback<Integer> ofConnections = Connection::getTransactionIsolation;
        int level = byDefault ? this.database.inTransaction(jdbc -> jdbc.execute(ofConnections)) : isolation;
        return level >= TransactionDefinition.ISOLATION_REPEATABLE_READ;
    }

    static SortedSet<Integer> stripesOf(Collection<String> keys) {
        return hashesOf(keys, hash -> (int) (hash & (Dialect.STRIPES - 1)));
    }

    /** Apart from numbers that the application may lock itself. */
    private static <T> SortedSet<T> hashesOf(Collection<String> keys, LongFunction<T> as) {
        return keys.stream()
                .map(key -> as.apply(Sha256.first64("idempotency/lock/" + key)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Waits for the locks of keys: in memory, in the database, or in one after the other, no longer than the timeout in total. */
    public final class Attempt implements TransactionSynchronization {

        private final long start = System.nanoTime();
        private final List<Semaphore> entered = new ArrayList<>();

        /**
         * Enters the queues of this instance, in the order of the stripes, so that no two wait for each other.
         *
         * @param wait whether to wait for other attempts, which may wait for a transaction that is open
         * @return whether it could do so without waiting
         * @throws LockTimeoutException if the wait takes too long
         */
        public boolean enter(Collection<String> keys, boolean wait) {
            try {
                for (int stripe : stripesOf(keys)) {
                    Semaphore queue = BusinessKeyLocks.this.queues.get(stripe);
                    // Unlike tryAcquire() without a time, this does not overtake waiting threads.
                    if (queue.tryAcquire(wait ? left().toNanos() : 0, TimeUnit.NANOSECONDS)) {
                        this.entered.add(queue);
                    } else if (wait) {
                        throw timeout(keys, null);
                    } else {
                        leave();
                        return false;
                    }
                }
                return true;
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw timeout(keys, ex);
            }
        }

        private Duration left() {
            return BusinessKeyLocks.this.timeout.minusNanos(System.nanoTime() - this.start);
        }

        /**
         * Locks the keys in the database until the end of the current transaction, by one statement.
         *
         * @throws LockTimeoutException if others hold one of them for too long
         */
        public void lock(Collection<String> keys) {
            int left = (int) Math.max(1, left().plusMillis(999).toSeconds());
            StoreExceptionTranslator.attempt(
                    () -> "lock business keys",
                    () -> BusinessKeyLocks.this.transaction.execute(
                            (connection, limit) -> lock(connection, keys, Math.min(limit, left)),
                            "lock business keys",
                            ex -> timeout(keys, ex)));
        }

        private boolean lock(Connection connection, Collection<String> keys, int seconds) throws SQLException {
            IdempotencyDatabase database = BusinessKeyLocks.this.database;
            SortedSet<Integer> stripes = stripesOf(keys);
            String sql = database.dialect().lock(database.lockTable(), hashesOf(keys, Long::valueOf), stripes);
            int locked = 0;
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(seconds);
                ResultSet rows = statement.executeQuery(sql);
                // All of them: with a fetch size, the next are locked as they are read.
                while (rows.next()) {
                    locked++;
                }
            }
            Assert.state(locked >= stripes.size(), "idempotency_lock lacks rows. Run the script of the tables again");
            return true;
        }

        private LockTimeoutException timeout(Collection<String> keys, @Nullable Throwable cause) {
            return new LockTimeoutException(
                    "Another transaction held a lock of %s. Nothing was written; it can be tried again. If transactions take that long, raise what ended the wait: idempotency.lock.timeout (%s), @Transactional(timeout = …), or a timeout of the database."
                            .formatted(StringUtils.truncate(keys.toString()), BusinessKeyLocks.this.timeout),
                    cause);
        }

        /** Leaves the queues; called when the transaction has ended, and with it the locks. */
        public void leave() {
            this.entered.forEach(Semaphore::release);
            this.entered.clear();
        }

        @Override
        public void afterCompletion(int status) {
            leave();
        }
    }
}
