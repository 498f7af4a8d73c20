package dev.idempotency;

/** The database ended the listener's transaction early: the listener caught an error that it does not survive, or committed. */
@SuppressWarnings("serial")
public class TransactionLostException extends IdempotencyException {

    public TransactionLostException(String message) {
        super(message, null);
    }
}
