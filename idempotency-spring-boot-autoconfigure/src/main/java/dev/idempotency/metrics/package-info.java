/** Micrometer meters and observations, and the watch of the store that gauges read. */
@NullMarked
package dev.idempotency.metrics;

import org.jspecify.annotations.NullMarked;
