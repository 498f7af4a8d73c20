/** The command: what it was asked for, and the order in which it is done. */
@NullMarked
package dev.idempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
