/** Micrometer meters and observations, and the store statistics that gauges read. Internal. */
@NullMarked
package dev.idempotency.internal.metrics;

import org.jspecify.annotations.NullMarked;
