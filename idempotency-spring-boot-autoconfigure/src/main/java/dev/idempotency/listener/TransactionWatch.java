package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.store.Admission;
import dev.idempotency.store.ClaimWatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a transaction from the first messages that are let in until its end: the database may undo it, all or nothing,
 * and will not say so when it is asked to commit. What comes later is lost with the first, so one look is enough for all. It
 * may also commit it before its end, so that its messages remain claimed though the listener fails.
 */
final class TransactionWatch {

    private static final Logger logger = LoggerFactory.getLogger(TransactionWatch.class);

    private final List<Runnable> claims = new ArrayList<>();
    private @Nullable ClaimWatch held;
    private @Nullable MessageId claimed;
    private String consumer = "";

    /** Messages of a listener have been let in, which begins the watch unless it has begun. */
    void begin(ListenerDefinition listener, Admission admission) {
        if (this.held == null) {
            this.held = listener.strategy().watchTransaction(admission);
            this.claimed = admission.claimed();
            this.consumer = listener.consumer();
        }
        this.claims.add(() -> listener.strategy().takeBack(admission));
    }

    /** The transaction has failed: takes back what is committed of it nevertheless, as the messages come again. */
    void takeBackIfCommitted() {
        if (this.held != null && this.held.takeBackIfCommitted(() -> this.claims.forEach(Runnable::run))) {
            logger.warn(
                    "The transaction of {} of consumer '{}' was committed before its listener had ended, and the listener has"
                            + " failed since. The claim was taken back, and the message comes again; what the listener had"
                            + " done until then stays, and is done again. Keep out of listeners what commits on this"
                            + " database: create, alter, drop and truncate table, procedures with transactions of their own,"
                            + " and commit() on the connection.",
                    message(),
                    this.consumer);
        }
    }

    private String message() {
        return (this.claimed != null) ? "message '" + this.claimed.value() + "'" : "a message without an id";
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
                            .formatted(message(), this.consumer));
        }
    }
}
