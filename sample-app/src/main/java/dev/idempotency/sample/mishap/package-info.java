/** Failures at the push of a button. This package is not needed for idempotency. */
@NullMarked
package dev.idempotency.sample.mishap;

import org.jspecify.annotations.NullMarked;
