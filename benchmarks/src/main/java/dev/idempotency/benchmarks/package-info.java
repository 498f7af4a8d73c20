/** The command: its options, and the order of the scenarios. */
@NullMarked
package dev.idempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
