/** Figures, and the files to which they are written. */
@NullMarked
package dev.idempotency.benchmarks.report;

import org.jspecify.annotations.NullMarked;
