/** An application with fifty listeners, that is started and ended. */
@NullMarked
package dev.idempotency.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
