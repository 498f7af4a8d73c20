package dev.idempotency.failure;

import java.time.Instant;

/**
 * A consumer that waits: for the database, or to be told where its keys are.
 *
 * @param consumer the consumer's name
 * @param since when it began to wait
 * @param cause what it met with
 * @param forKeys whether it waits because no message had a key so far
 */
public record ConsumerOutage(String consumer, Instant since, String cause, boolean forKeys) {}
