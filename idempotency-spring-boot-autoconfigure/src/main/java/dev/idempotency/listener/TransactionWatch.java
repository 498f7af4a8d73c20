package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.store.Admission;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches a transaction from the first messages that are let in until its commit: the database may undo it, all or nothing,
 * and will not say so when it is asked to commit. What comes later is lost with the first, so one look is enough for all.
 */
final class TransactionWatch {

    private @Nullable BooleanSupplier held;
    private @Nullable MessageId claimed;
    private String consumer = "";

    /** Messages of a listener have been let in, which begins the watch unless it has begun. */
    void begin(ListenerDefinition listener, Admission admission) {
        if (this.held == null) {
            this.held = listener.strategy().watchTransaction(admission);
            this.claimed = admission.claimed();
            this.consumer = listener.consumer();
        }
    }

    /**
     * Looks whether the database still holds the transaction.
     *
     * @throws TransactionLostException if it does not
     */
    void requireHeld() {
        if (this.held != null && !this.held.getAsBoolean()) {
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
