package dev.idempotency.listener;

import dev.idempotency.IdempotencyException;
import dev.idempotency.observe.Conflict;
import dev.idempotency.store.Candidate;
import java.io.Serial;

/**
 * Rolls an attempt back in which a message has the id of another one: it never leaves the library, since those before the
 * message have to be processed first.
 */
final class ConflictFoundException extends IdempotencyException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Candidate candidate;
    private final transient Conflict conflict;

    ConflictFoundException(Candidate candidate, Conflict conflict) {
        super("%s has the id of %s".formatted(conflict.coordinates(), conflict.original()), null);
        this.candidate = candidate;
        this.conflict = conflict;
    }

    Candidate candidate() {
        return this.candidate;
    }

    Conflict conflict() {
        return this.conflict;
    }
}
