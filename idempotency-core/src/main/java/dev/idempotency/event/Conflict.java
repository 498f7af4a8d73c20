package dev.idempotency.event;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that has the id of another one, and another payload.
 *
 * @param coordinates the record of the later one, which was not processed
 * @param original the record of the one that was
 * @param processedAt when that was, by the database's clock; {@code null} if both came together
 */
public record Conflict(
        MessageId id,
        RecordCoordinates coordinates,
        RecordCoordinates original,
        @Nullable Instant processedAt) {}
