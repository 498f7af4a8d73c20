package dev.idempotency.event;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that came too late, and was dropped: a newer version of its entity had been processed.
 *
 * @param id the message: its entity and version
 * @param coordinates the record that was dropped
 * @param newest the newest version before it
 * @param processedAt when that one was processed, by the database's clock; {@code null} if it came with the same batch
 */
public record Stale(
        MessageId id,
        RecordCoordinates coordinates,
        String version,
        String newest,
        @Nullable Instant processedAt,
        @Nullable Duration age) {}
