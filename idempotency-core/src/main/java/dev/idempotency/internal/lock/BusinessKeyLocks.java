package dev.idempotency.internal.lock;

import dev.idempotency.LockTimeoutException;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.LockStatement;
import dev.idempotency.internal.store.ClaimTransaction;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.StringUtils;

/**
 * Locks business keys until the end of a transaction. The database excludes other instances. Listeners of this instance wait for
 * each other in memory, before their transaction begins, so that they hold no connection.
 */
public final class BusinessKeyLocks {

    private static final String NAMESPACE = "idempotency/lock/";

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final LockStatement statement;
    private final Duration timeout;

    /** One per stripe, in the order in which they are entered. Those who wait are let in in the order of their arrival. */
    final List<Semaphore> queues = Stream.generate(() -> new Semaphore(1, true))
            .limit(LockStatement.STRIPES)
            .toList();

    /** {@code timeout} is how long to wait for a lock. */
    public BusinessKeyLocks(IdempotencyDatabase database, Duration timeout) {
        this.database = database;
        this.timeout = timeout;
        this.transaction = new ClaimTransaction(database, timeout);
        this.statement = database.dialect().locksIn(database.lockTable());
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
        if (!StringUtils.hasText(key)) {
            throw new IllegalArgumentException("There is no key to lock: it is '%s'".formatted(key));
        }
        if (!this.database.isInTransaction() || !TransactionSynchronizationManager.isSynchronizationActive()) {
            throw new IllegalStateException(
                    ("'%s' cannot be locked: a lock ends with its transaction, and none of the store's DataSource is open. Call"
                                    + " it in a @Transactional method, a TransactionTemplate, or the work of execute(…).")
                            .formatted(key));
        }
        if (readsSnapshot(TransactionSynchronizationManager.getCurrentTransactionIsolationLevel())) {
            throw new IllegalStateException(
                    ("'%s' cannot be locked: the transaction is REPEATABLE READ or SERIALIZABLE, and may see what was there"
                                    + " before the lock. Use READ COMMITTED.")
                            .formatted(key));
        }
        Attempt attempt = attempt();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void afterCompletion(int status) {
                attempt.close();
            }
        });
        // Listeners of this instance then wait in memory. Code waits in the database, as its transaction is open.
        attempt.enter(List.of(key));
        attempt.lock(List.of(key));
    }

    /** Whether transactions of this isolation level may see data that is older than their lock. */
    public static boolean readsSnapshot(@Nullable Integer isolation) {
        return isolation != null && isolation >= TransactionDefinition.ISOLATION_REPEATABLE_READ;
    }

    /** The same for the connections' default isolation. Not on databases that take the snapshot with the first read. */
    public boolean readsSnapshotByDefault() {
        ConnectionCallback<Integer> isolation = Connection::getTransactionIsolation;
        return this.database.dialect().currentRead().isEmpty()
                && readsSnapshot(this.database.inTransaction(jdbc -> jdbc.execute(isolation)));
    }

    /** The first 64 bits of the key's SHA-256, apart from numbers that the application may lock itself. */
    static long hash(String key) {
        try {
            byte[] text = (NAMESPACE + key).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text))
                    .getLong();
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Waits for the locks of keys: in memory, in the database, or in one after the other, no longer than the timeout in total. */
    public final class Attempt implements AutoCloseable {

        private final long start = System.nanoTime();
        private final List<Semaphore> entered = new ArrayList<>();
        private long waited;

        private Attempt() {}

        /** Enters the queues of this instance unless another attempt is in one of them; returns whether it did. Never waits. */
        public boolean enter(Collection<String> keys) {
            return enter(keys, false);
        }

        /**
         * Waits for other attempts of this instance. Not to be called in a transaction, which may hold what they wait for.
         *
         * @throws LockTimeoutException if that takes too long
         */
        public void await(Collection<String> keys) {
            if (!enter(keys, true)) {
                throw timeout(keys, null);
            }
        }

        /** In the order of the stripes, so that no two wait for each other. */
        private boolean enter(Collection<String> keys, boolean wait) {
            try {
                for (int stripe : LockStatement.stripesOf(hashes(keys))) {
                    Semaphore queue = BusinessKeyLocks.this.queues.get(stripe);
                    // Unlike tryAcquire() without a time, not before those who wait.
                    if (!queue.tryAcquire(wait ? left().toNanos() : 0, TimeUnit.NANOSECONDS)) {
                        close();
                        return false;
                    }
                    this.entered.add(queue);
                }
                return true;
            } catch (InterruptedException ex) {
                close();
                Thread.currentThread().interrupt();
                throw timeout(keys, ex);
            } finally {
                this.waited = System.nanoTime() - this.start;
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
            String task = "lock " + describe(keys);
            int left = Math.toIntExact(Math.max(1, left().plusMillis(999).toSeconds()));
            try {
                StoreExceptionTranslator.attempt(
                        () -> task,
                        () -> BusinessKeyLocks.this.transaction.execute(
                                (connection, limit) -> {
                                    BusinessKeyLocks.this.statement.execute(
                                            connection, hashes(keys), Math.min(limit, left));
                                    return true;
                                },
                                task,
                                ex -> timeout(keys, ex)));
            } finally {
                this.waited = System.nanoTime() - this.start;
            }
        }

        private static List<Long> hashes(Collection<String> keys) {
            return keys.stream().map(BusinessKeyLocks::hash).distinct().sorted().toList();
        }

        private static String describe(Collection<String> keys) {
            String first = "'" + keys.iterator().next() + "'";
            return (keys.size() > 1) ? first + " or of " + (keys.size() - 1) + " more" : first;
        }

        private LockTimeoutException timeout(Collection<String> keys, @Nullable Throwable cause) {
            return new LockTimeoutException(
                    ("Another transaction held the lock of %s. Nothing was written; it can be tried again. If transactions take that"
                                    + " long, raise what ended the wait: idempotency.lock.timeout (%s), @Transactional(timeout = …),"
                                    + " or the database's lock and statement timeouts.")
                            .formatted(describe(keys), BusinessKeyLocks.this.timeout),
                    cause);
        }

        /** How long it has waited, in the queues and in the database, from the first try on. */
        public Duration waited() {
            return Duration.ofNanos(this.waited);
        }

        /** Leaves the queues; called when the transaction has ended, and with it the locks. */
        @Override
        public void close() {
            this.entered.forEach(Semaphore::release);
            this.entered.clear();
        }
    }
}
