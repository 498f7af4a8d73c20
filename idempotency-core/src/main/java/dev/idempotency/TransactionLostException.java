package dev.idempotency;

/**
 * The database ended the listener's transaction early: the listener caught an error that no transaction survives, or executed
 * a statement that commits. In the latter case, the work before that statement has been committed.
 */
@SuppressWarnings("serial")
public class TransactionLostException extends IdempotencyException {

    public TransactionLostException(String message) {
        super(message, null);
    }
}
