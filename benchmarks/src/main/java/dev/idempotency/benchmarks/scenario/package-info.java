/** What is measured, one scenario a class. */
@NullMarked
package dev.idempotency.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
