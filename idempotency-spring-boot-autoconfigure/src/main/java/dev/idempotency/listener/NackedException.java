package dev.idempotency.listener;

import java.io.Serial;

/** Tells the inbox that a listener called {@code nack()}. */
final class NackedException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    NackedException() {
        super("The listener called nack()", null, false, false);
    }
}
