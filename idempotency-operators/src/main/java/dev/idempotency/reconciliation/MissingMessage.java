package dev.idempotency.reconciliation;

import dev.idempotency.RecordCoordinates;

/** A message that should be remembered, and is not. */
public record MissingMessage(RecordCoordinates record, String messageId) {}
