package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message in the {@link Inbox}, without its key, headers and payload. All times are the database's.
 *
 * @param record where its record stood first
 * @param attempts how many calls of the listener with it have succeeded or failed
 * @param replays how often it was sent to its topic again
 * @param lastError why the last attempt that failed did so; kept when a later one succeeds
 * @param receivedAt when the first attempt that is known began or failed
 * @param processedAt when it was processed last, even if it was forgotten since; {@code null} if it was not processed
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
