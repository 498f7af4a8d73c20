package dev.idempotency;

/**
 * The database ended the listener's transaction, the claim with it, while the listener went on: it caught the error of a
 * statement that the transaction does not survive, or a statement committed early.
 */
@SuppressWarnings("serial")
public class TransactionLostException extends IdempotencyException {

    public TransactionLostException(String message) {
        super(message, null);
    }
}
