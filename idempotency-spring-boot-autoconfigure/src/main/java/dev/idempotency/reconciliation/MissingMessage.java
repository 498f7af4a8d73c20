package dev.idempotency.reconciliation;

import dev.idempotency.RecordCoordinates;

/**
 * A message that should be remembered, and is not.
 *
 * @param record where it stands
 * @param messageId its id
 */
public record MissingMessage(RecordCoordinates record, String messageId) {}
