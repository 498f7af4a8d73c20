package dev.idempotency;

/**
 * The wish to be the one who processes a message.
 *
 * @param id the message
 * @param coordinates the record that carries it
 */
public record Claim(MessageId id, RecordCoordinates coordinates) {}
