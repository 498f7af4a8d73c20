/** What every scenario stands on: servers, an application, and the clock around its listeners. */
@NullMarked
package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
