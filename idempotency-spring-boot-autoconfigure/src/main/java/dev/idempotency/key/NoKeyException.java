package dev.idempotency.key;

import java.io.Serial;

/** Ends the evaluation of an expression at a part that is absent: there is no key, rather than a wrong one. */
final class NoKeyException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    NoKeyException() {
        super("A part of the key is absent", null, false, false);
    }
}
