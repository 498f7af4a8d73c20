/**
 * The observer SPI: what is told of each message, once its fate is certain.
 *
 * <p>For users: {@link dev.idempotency.observe.IdempotencyObserver} beans give each consumer a
 * {@link dev.idempotency.observe.ConsumerObserver}, which hears of {@link dev.idempotency.observe.Outcome outcomes},
 * {@link dev.idempotency.observe.Duplicate duplicates}, {@link dev.idempotency.observe.Stale stale} messages and
 * {@link dev.idempotency.observe.Conflict conflicts}. What else is public is so for other packages of this library.
 */
@NullMarked
package dev.idempotency.observe;

import org.jspecify.annotations.NullMarked;
