/** The scenarios, one class each. */
@NullMarked
package dev.idempotency.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
