package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import org.jspecify.annotations.Nullable;

/**
 * A message as it is written to the table.
 *
 * @param id its identity
 * @param coordinates where its record stood first
 * @param type what it says it is, or the class of what it was deserialized to
 * @param key the record's key
 * @param headers the record's headers, as {@link HeaderLines}
 * @param received exactly what was received as the record's value; {@code null} for a record without one, or if it is not
 *     known
 * @param omitted why the value is not kept; {@code null} if it is
 */
record KeptMessage(
        MessageId id,
        RecordCoordinates coordinates,
        @Nullable String type,
        byte @Nullable [] key,
        String headers,
        byte @Nullable [] received,
        @Nullable String omitted) {

    static final String TOO_LARGE = "too large";

    /** Somebody put another record in the place of the one that was received. */
    static final String UNKNOWN = "unknown";

    /** What is kept of the record's value. */
    byte @Nullable [] payload() {
        return (this.omitted == null) ? this.received : null;
    }

    /** The size of the record's value in bytes, kept or not; {@code null} for a record without one, or if it is not known. */
    @Nullable
    Integer payloadSize() {
        return (this.received != null) ? this.received.length : null;
    }
}
