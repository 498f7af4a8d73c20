/** The base of every scenario: servers, an application, and the measurement of its listeners. */
@NullMarked
package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
