package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a message in the inbox, without the message itself. All times are the database's. It has as many parts as
 * its row has columns that somebody asks for.
 *
 * @param id its identity
 * @param status what became of it
 * @param type what its headers say it is, or the class of what it was deserialized to
 * @param record where its record stood first
 * @param attempts how often the listener was called with it and ended, one way or the other; or, where it was given up as
 *     it ended the process each time, how often it was called
 * @param replays how often it was sent to its topic again
 * @param lastError why the last attempt that failed did so; kept when a later one succeeds
 * @param receivedAt when the first attempt that is known began or failed
 * @param processedAt when it was processed last, be it forgotten since; {@code null} if it has not been
 * @param updatedAt when any of this changed last
 * @param payloadSize the size of its value in bytes; {@code null} for a record without one, or if it is not known
 * @param payloadOmitted why its value is not kept ({@code too large}, {@code unknown}); {@code null} if it is
 */
public record InboxEntry(
        MessageId id,
        InboxStatus status,
        @Nullable String type,
        RecordCoordinates record,
        int attempts,
        int replays,
        @Nullable String lastError,
        Instant receivedAt,
        @Nullable Instant processedAt,
        Instant updatedAt,
        @Nullable Integer payloadSize,
        @Nullable String payloadOmitted) {}
