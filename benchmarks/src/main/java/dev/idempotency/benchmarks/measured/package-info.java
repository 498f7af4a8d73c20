/** The compared listeners, each set up as in its documentation. */
@NullMarked
package dev.idempotency.benchmarks.measured;

import org.jspecify.annotations.NullMarked;
