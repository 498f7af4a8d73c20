/** Failures at the push of a button. Nothing here is needed for idempotency. */
@NullMarked
package dev.idempotency.sample.mishap;

import org.jspecify.annotations.NullMarked;
