/** The start-up of an application with fifty listeners. */
@NullMarked
package dev.idempotency.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
