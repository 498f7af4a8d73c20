/**
 * The observer SPI: outcomes of messages, reported once they are certain.
 *
 * <p>For users: {@link dev.idempotency.observe.IdempotencyObserver} beans give each consumer a
 * {@link dev.idempotency.observe.ConsumerObserver}, which observes {@link dev.idempotency.observe.Outcome outcomes},
 * {@link dev.idempotency.observe.Duplicate duplicates}, {@link dev.idempotency.observe.Stale stale} messages and
 * {@link dev.idempotency.observe.Conflict conflicts}. All other public types are internal.
 */
@NullMarked
package dev.idempotency.observe;

import org.jspecify.annotations.NullMarked;
