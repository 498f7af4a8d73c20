package dev.idempotency.lock;

import dev.idempotency.LockTimeoutException;
import dev.idempotency.database.LockStatement;
import dev.idempotency.store.StoreExceptionTranslator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits for the locks of keys: in memory, in the database, or in one after the other, no longer than the timeout in total. */
public final class LockAttempt implements AutoCloseable {

    private final BusinessKeyLocks locks;
    private List<Semaphore> entered = List.of();
    private long waited;

    LockAttempt(BusinessKeyLocks locks) {
        this.locks = locks;
    }

    /** Enters the queues of this instance unless another attempt is in one of them; returns whether it did. Never waits. */
    public boolean enter(Collection<String> keys) {
        return enter(keys, 0);
    }

    /**
     * Waits for other attempts of this instance. Not to be called in a transaction, which may hold what they wait for.
     *
     * @throws LockTimeoutException if that takes too long
     */
    public void await(Collection<String> keys) {
        if (!enter(keys, this.locks.timeout.toNanos() - this.waited)) {
            throw timeout(keys, null);
        }
    }

    /** In the order of the stripes, so that no two wait for each other. */
    private boolean enter(Collection<String> keys, long nanos) {
        long start = System.nanoTime();
        List<Semaphore> queues = new ArrayList<>();
        boolean all = false;
        try {
            for (int stripe : LockStatement.stripesOf(hashes(keys))) {
                Semaphore queue = this.locks.queues.get(stripe);
                // Unlike tryAcquire() without a time, not before those who wait.
                if (!queue.tryAcquire(nanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS)) {
                    return false;
                }
                queues.add(queue);
            }
            all = true;
            this.entered = queues;
            return true;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw timeout(keys, ex);
        } finally {
            if (!all) {
                queues.forEach(Semaphore::release);
            }
            this.waited += System.nanoTime() - start;
        }
    }

    /**
     * Locks keys in the database until the end of the current transaction, by one statement.
     *
     * @throws LockTimeoutException if others hold one of them for too long
     */
    public void lock(Collection<String> keys) {
        long start = System.nanoTime();
        int left = Math.toIntExact(Math.max(1, this.locks.timeout.minusNanos(this.waited).plusMillis(999).toSeconds()));
        try {
            StoreExceptionTranslator.attempt(
                    () -> "lock " + describe(keys),
                    () -> this.locks.transaction.execute(
                            (connection, limit) -> {
                                this.locks.statement.execute(connection, hashes(keys), Math.min(limit, left));
                                return true;
                            },
                            "lock " + describe(keys),
                            ex -> timeout(keys, ex)));
        } finally {
            this.waited += System.nanoTime() - start;
        }
    }

    private static List<Long> hashes(Collection<String> keys) {
        return keys.stream().map(BusinessKeyLocks::hash).distinct().sorted().toList();
    }

    private LockTimeoutException timeout(Collection<String> keys, @Nullable Throwable cause) {
        return new LockTimeoutException(
                ("Another transaction held the lock of %s. Nothing was written; it can be tried again. If transactions take that"
                                + " long, raise what ended the wait: idempotency.lock.timeout (%s), @Transactional(timeout = …),"
                                + " or the database's lock and statement timeouts.")
                        .formatted(describe(keys), this.locks.timeout),
                cause);
    }

    private static String describe(Collection<String> keys) {
        String first = "'" + keys.iterator().next() + "'";
        return (keys.size() > 1) ? first + " or of " + (keys.size() - 1) + " more" : first;
    }

    /** How long it has waited, in the queues and in the database. */
    public Duration waited() {
        return Duration.ofNanos(this.waited);
    }

    /** Leaves the queues; called when the transaction has ended, and with it the locks. */
    @Override
    public void close() {
        this.entered.forEach(Semaphore::release);
        this.entered = List.of();
    }
}
