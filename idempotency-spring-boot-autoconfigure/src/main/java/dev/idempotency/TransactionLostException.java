package dev.idempotency;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The database gave up the listener's transaction, the claim with it, while the listener went on: it caught the error of
 * a statement that the transaction does not survive. Nothing is committed, and the message comes again. The same for code
 * that claims: a claim that has failed half-way is not survived either.
 */
public class TransactionLostException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    public TransactionLostException(String message) {
        this(message, null);
    }

    public TransactionLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
