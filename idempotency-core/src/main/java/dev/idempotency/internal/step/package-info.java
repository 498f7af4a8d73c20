/**
 * Steps: calls outside the database, recorded as they are done, so that later attempts of a message do not repeat them.
 *
 * <p>Internal: users call {@link dev.idempotency.IdempotencyContext}.
 */
@NullMarked
package dev.idempotency.internal.step;

import org.jspecify.annotations.NullMarked;
