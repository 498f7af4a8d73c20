/** The interceptor alone, without a broker and without a database. */
@NullMarked
package dev.idempotency.benchmarks.interceptor;

import org.jspecify.annotations.NullMarked;
