package dev.idempotency.lock;

import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.LockStatement;
import dev.idempotency.store.ClaimTransaction;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.StringUtils;

/**
 * Locks business keys in transactions. The database excludes all others; in addition, whoever begins its transaction only then
 * waits for others of this instance in memory, where it holds no connection.
 */
public final class BusinessKeyLocks {

    private static final String NAMESPACE = "idempotency/lock/";

    final ClaimTransaction transaction;
    final LockStatement statement;
    final Duration timeout;

    /** One per stripe, in the order in which they are entered. Those who wait are let in in the order of their arrival. */
    final List<Semaphore> queues = IntStream.range(0, LockStatement.STRIPES)
            .mapToObj(stripe -> new Semaphore(1, true))
            .toList();

    private final IdempotencyDatabase database;

    /** {@code timeout} is how long to wait for a lock. */
    public BusinessKeyLocks(IdempotencyDatabase database, Duration timeout) {
        this.database = database;
        this.timeout = timeout;
        this.transaction = new ClaimTransaction(database, timeout);
        this.statement = database.dialect().locksIn(database.lockTable());
    }

    /** Begins to wait for locks on behalf of one transaction, or of several of which all but the last are rolled back. */
    public LockAttempt attempt() {
        return new LockAttempt(this);
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
        LockAttempt attempt = attempt();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void afterCompletion(int status) {
                attempt.close();
            }
        });
        // Others of this instance then wait in memory. Whoever has it already is waited for in the database.
        attempt.enter(List.of(key));
        attempt.lock(List.of(key));
    }

    /** Whether transactions of this isolation see what was committed before they began, not before a statement. */
    public static boolean readsSnapshot(@Nullable Integer isolation) {
        return isolation != null && isolation >= TransactionDefinition.ISOLATION_REPEATABLE_READ;
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
}
