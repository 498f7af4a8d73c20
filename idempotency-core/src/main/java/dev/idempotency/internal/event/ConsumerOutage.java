package dev.idempotency.internal.event;

import dev.idempotency.ConsumerWaitingException.Awaited;
import java.time.Instant;

/**
 * A consumer that waits, as a whole or with some of its partitions.
 *
 * @param consumer the consumer's name
 * @param since when it began to wait
 * @param cause what it met with
 * @param awaited what it waits for
 */
public record ConsumerOutage(String consumer, Instant since, String cause, Awaited awaited) {}
