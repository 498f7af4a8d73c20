package dev.idempotency.actuate;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.InboxEntry;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a message in the inbox.
 *
 * @param consumer the consumer
 * @param messageId the id as it is stored: a digest, where the message's own is too long
 * @param status {@code processed}, {@code failed}, {@code forgotten} or {@code replayed}
 * @param type the message's type
 * @param record where the message's record stood first
 * @param attempts how often the listener was called with it
 * @param replays how often it was sent to its topic again
 * @param lastError why it failed last: in a list, the first line
 * @param receivedAt when it was first received
 * @param processedAt when it was processed
 * @param updatedAt when any of this changed last
 * @param payloadSize the size of its value in bytes
 * @param payloadOmitted why its value was not kept
 */
record InboxEntryReport(
        String consumer,
        String messageId,
        String status,
        @Nullable String type,
        RecordCoordinates record,
        int attempts,
        int replays,
        @Nullable String lastError,
        Instant receivedAt,
        @Nullable Instant processedAt,
        Instant updatedAt,
        @Nullable Integer payloadSize,
        @Nullable String payloadOmitted) {

    /** A message in a list. */
    static InboxEntryReport brief(InboxEntry entry) {
        String error = entry.lastError();
        return of(entry, (error != null) ? error.lines().findFirst().orElse("") : null);
    }

    /** A message by itself. */
    static InboxEntryReport full(InboxEntry entry) {
        return of(entry, entry.lastError());
    }

    private static InboxEntryReport of(InboxEntry entry, @Nullable String error) {
        return new InboxEntryReport(
                entry.id().consumer(),
                entry.id().value(),
                entry.status().toString(),
                entry.type(),
                entry.record(),
                entry.attempts(),
                entry.replays(),
                error,
                entry.receivedAt(),
                entry.processedAt(),
                entry.updatedAt(),
                entry.payloadSize(),
                entry.payloadOmitted());
    }
}
