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
 * @param payload the record's value
 * @param earlierCalls calls of the listener that have not been recorded, beside the one that is
 */
record KeptMessage(
        MessageId id,
        RecordCoordinates coordinates,
        @Nullable String type,
        byte @Nullable [] key,
        String headers,
        Payload payload,
        int earlierCalls) {

    /** A message of which all earlier calls have been recorded. */
    KeptMessage(
            MessageId id,
            RecordCoordinates coordinates,
            @Nullable String type,
            byte @Nullable [] key,
            String headers,
            Payload payload) {
        this(id, coordinates, type, key, headers, payload, 0);
    }
}
