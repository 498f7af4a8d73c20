/** The scenarios, one class for each. */
@NullMarked
package dev.idempotency.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
