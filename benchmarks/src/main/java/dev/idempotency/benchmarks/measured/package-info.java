/** The listeners that are compared, each set up as its own documentation says. */
@NullMarked
package dev.idempotency.benchmarks.measured;

import org.jspecify.annotations.NullMarked;
