package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks, as the last thing before a commit, whether the database still holds what was done in the transaction: it may have
 * undone it, all or nothing, and will not say so when it is asked to commit.
 *
 * @param claimed one of the messages that were claimed; {@code null} if none has an id
 * @param consumer whose transaction it is
 * @param held asks the store
 */
record ClaimGuard(@Nullable MessageId claimed, String consumer, BooleanSupplier held) {

    /**
     * A guard for the current transaction, in which the listener has not been called yet.
     *
     * @param ids the messages that the listener is called with; one that was claimed stands for all
     */
    static ClaimGuard of(ProcessedMessageStore store, String consumer, List<@Nullable MessageId> ids) {
        for (MessageId id : ids) {
            if (id != null) {
                return new ClaimGuard(id, consumer, () -> store.holds(id));
            }
        }
        return new ClaimGuard(null, consumer, store.watchTransaction(consumer));
    }

    /**
     * Looks.
     *
     * @throws TransactionLostException if the database has undone the transaction
     */
    void requireHeld() {
        if (!this.held.getAsBoolean()) {
            throw new TransactionLostException(
                    ("The database has given up the transaction of %s of consumer '%s': one of the listener's"
                                    + " statements failed, and the error was caught. Nothing was committed, and the"
                                    + " message comes again. Let the error reach the listener's caller, or keep the"
                                    + " statement in a transaction of its own: in a method of another bean with"
                                    + " REQUIRES_NEW, or with NESTED where the transaction manager has savepoints (a"
                                    + " JdbcTransactionManager has, a JpaTransactionManager has not).")
                            .formatted(
                                    (this.claimed != null)
                                            ? "message '" + this.claimed.value() + "'"
                                            : "a message without an id",
                                    this.consumer));
        }
    }
}
