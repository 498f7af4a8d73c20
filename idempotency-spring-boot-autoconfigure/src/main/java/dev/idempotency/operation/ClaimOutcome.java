package dev.idempotency.operation;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TransactionLostException;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.ClaimWatch;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * What becomes of a claim from code: sees to it before the commit that the database still holds it, and tells the consumer's
 * observer afterwards.
 */
final class ClaimOutcome extends UndoableSynchronization {

    private static final Logger logger = LoggerFactory.getLogger(ClaimOutcome.class);

    /** Where claims from code come from: no record. */
    static final RecordCoordinates NOWHERE = new RecordCoordinates("-", 0, 0);

    private final @Nullable ClaimWatch watch;
    private @Nullable ClaimWatch held;
    private final ProcessedMessageStore store;
    private final ConsumerObserver observer;
    private final List<MessageId> claimed;
    private final List<Duplicate> duplicates;
    private final long start = System.nanoTime();

    /** Watches the current transaction, in which they were claimed. */
    ClaimOutcome(
            ProcessedMessageStore store,
            ConsumerObserver observer,
            List<MessageId> claimed,
            List<Duplicate> duplicates) {
        this.watch = claimed.isEmpty() ? null : store.watchClaim(claimed.get(0));
        this.held = this.watch;
        this.store = store;
        this.observer = observer;
        this.claimed = claimed;
        this.duplicates = duplicates;
    }

    List<MessageId> claimed() {
        return this.claimed;
    }

    /** The guard of its claims, to be registered when all that the work registers has been. */
    TransactionSynchronization guard() {
        return new TransactionSynchronization() {

            @Override
            public void beforeCommit(boolean readOnly) {
                requireCommittable();
            }
        };
    }

    /**
     * Looks, once, whether the database still holds the claims: one stands for all.
     *
     * @throws TransactionLostException if it does not
     */
    @Override
    void requireCommittable() {
        ClaimWatch asked = this.held;
        if (isUndone() || asked == null) {
            return;
        }
        this.held = null;
        if (!asked.getAsBoolean()) {
            throw new TransactionLostException(
                    ("The database has given up the transaction in which %s was claimed: a statement failed in it, and the"
                                    + " error was caught. Nothing was committed. Let the error reach the caller, or keep the"
                                    + " statement in a transaction of its own: in a method of another bean with"
                                    + " REQUIRES_NEW, or with NESTED where the transaction manager has savepoints.")
                            .formatted(this.claimed.get(0)));
        }
    }

    /** The transaction has failed: takes back what is committed of it nevertheless. */
    void takeBackIfCommitted() {
        if (this.watch != null && this.watch.takeBackIfCommitted(() -> this.claimed.forEach(this.store::forget))) {
            logger.warn(
                    "The transaction in which {} was claimed was committed before its end, and has failed since. The claim was"
                            + " taken back; what had been done until then stays. Keep out of it what commits on this"
                            + " database: create, alter, drop and truncate table, procedures with transactions of their own,"
                            + " and commit() on the connection.",
                    this.claimed.get(0));
        }
    }

    @Override
    public void afterCompletion(int status) {
        if (status != STATUS_COMMITTED || isUndone()) {
            if (!this.claimed.isEmpty()) {
                this.observer.failed(this.claimed.size());
            }
            return;
        }
        if (!this.claimed.isEmpty()) {
            this.observer.committed(System.nanoTime() - this.start);
        }
        this.claimed.forEach(id -> this.observer.processed(id, NOWHERE));
        this.duplicates.forEach(this.observer::duplicate);
    }
}
