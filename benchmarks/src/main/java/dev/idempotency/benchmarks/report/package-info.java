/** Figures, and the files they end in. */
@NullMarked
package dev.idempotency.benchmarks.report;

import org.jspecify.annotations.NullMarked;
