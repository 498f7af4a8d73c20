/**
 * Micrometer meters and observations, and the watch of the store that gauges read.
 *
 * <p>For users: the names of meters in {@link dev.idempotency.metrics.IdempotencyMeters} and of key values in
 * {@link dev.idempotency.metrics.ObservationObserver}. What else is public is so for the auto-configuration.
 */
@NullMarked
package dev.idempotency.metrics;

import org.jspecify.annotations.NullMarked;
