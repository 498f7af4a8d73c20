package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A request to be the one who processes a message.
 *
 * @param id the message
 * @param coordinates the record that carries it
 * @param payloadDigest digest of its payload, to detect conflicts; {@code null} if they are not looked for
 */
public record Claim(
        MessageId id,
        RecordCoordinates coordinates,
        @Nullable Long payloadDigest) {

    /** A claim without a digest of the payload. */
    public Claim(MessageId id, RecordCoordinates coordinates) {
        this(id, coordinates, null);
    }
}
