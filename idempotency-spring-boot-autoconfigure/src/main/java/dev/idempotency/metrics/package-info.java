/**
 * Micrometer meters and observations, and the watch of the store that gauges read.
 *
 * <p>For users: the names of meters in {@link dev.idempotency.metrics.IdempotencyMeters} and of key values in
 * {@link dev.idempotency.metrics.MicrometerObservationListener}. All other public types are internal.
 */
@NullMarked
package dev.idempotency.metrics;

import org.jspecify.annotations.NullMarked;
