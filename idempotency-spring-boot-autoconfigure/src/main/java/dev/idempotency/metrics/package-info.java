/** Names of meters and tags: {@link dev.idempotency.metrics.IdempotencyMeters}. */
@NullMarked
package dev.idempotency.metrics;

import org.jspecify.annotations.NullMarked;
