package dev.idempotency.event;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that had been processed before, and was dropped.
 *
 * @param processedAt when the original was processed, by the database's clock; {@code null} if it is no longer known
 */
public record Duplicate(
        MessageId id,
        RecordCoordinates coordinates,
        DuplicateKind kind,
        @Nullable Instant processedAt,
        @Nullable Duration age) {}
