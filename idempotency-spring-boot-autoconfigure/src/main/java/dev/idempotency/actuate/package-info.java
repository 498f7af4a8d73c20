/**
 * The Actuator endpoints {@code idempotency}, {@code idempotencyinbox}, {@code idempotencydeadletters} and
 * {@code idempotencyreconciliation}, and the health contributor {@code idempotency}.
 *
 * <p>For users: the endpoints, which a bean of the application's own may replace, and the status
 * {@link dev.idempotency.actuate.IdempotencyHealthIndicator#DEGRADED}. What else is public is so for the
 * auto-configuration; the answers of endpoints are documented as JSON.
 */
@NullMarked
package dev.idempotency.actuate;

import org.jspecify.annotations.NullMarked;
