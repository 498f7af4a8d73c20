package dev.idempotency.redrive;

import java.util.Locale;

/** The status of a {@link DeadLetter}. */
public enum DeadLetterStatus {

    /** It can be sent back. */
    PENDING,

    /** It has been sent back, as all before it. If it failed again, that is another dead letter. */
    REDRIVEN,

    /** It has been sent back so often that it stays. */
    EXHAUSTED,

    /** It is older than its consumer remembers messages: it stays, unless it is asked for by its coordinates. */
    EXPIRED,

    /** Its headers do not lead back to a topic that its consumer reads: it stays. */
    UNROUTABLE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
