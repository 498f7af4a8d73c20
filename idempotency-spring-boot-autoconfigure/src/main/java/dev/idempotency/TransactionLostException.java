package dev.idempotency;

import java.io.Serial;

/**
 * The database gave up the listener's transaction, the claim with it, while the listener went on: it caught the error of
 * a statement that the transaction does not survive. Nothing is committed, and the message comes again.
 */
public class TransactionLostException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public TransactionLostException(String message) {
        super(message, null);
    }
}
