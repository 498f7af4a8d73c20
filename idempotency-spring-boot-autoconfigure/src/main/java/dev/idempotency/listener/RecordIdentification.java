package dev.idempotency.listener;

import dev.idempotency.MessageId;
import org.jspecify.annotations.Nullable;

/**
 * Result of identifying a record for a listener.
 *
 * @param kind what it is
 * @param id its id, if it has one
 */
public record RecordIdentification(Kind kind, @Nullable MessageId id) {

    static final RecordIdentification FILTERED = new RecordIdentification(Kind.FILTERED, null);
    static final RecordIdentification UNREADABLE = new RecordIdentification(Kind.UNREADABLE, null);
    static final RecordIdentification WITHOUT_KEY = new RecordIdentification(Kind.WITHOUT_KEY, null);

    static RecordIdentification of(@Nullable MessageId id) {
        return (id != null) ? new RecordIdentification(Kind.IDENTIFIED, id) : WITHOUT_KEY;
    }

    /** Kinds of records. */
    public enum Kind {

        /** A message with an id. */
        IDENTIFIED,

        /** One that the listener's filter leaves out. */
        FILTERED,

        /** One that cannot be deserialized or converted. */
        UNREADABLE,

        /** A message without a key, or with one that cannot be used. */
        WITHOUT_KEY
    }
}
