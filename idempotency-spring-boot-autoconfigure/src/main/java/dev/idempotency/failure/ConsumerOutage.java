package dev.idempotency.failure;

import java.time.Instant;

/**
 * A consumer that waits for the database.
 *
 * @param consumer the consumer's name
 * @param since when it began to wait
 * @param cause what it met with
 */
public record ConsumerOutage(String consumer, Instant since, String cause) {}
