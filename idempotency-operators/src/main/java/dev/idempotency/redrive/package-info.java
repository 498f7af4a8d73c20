/**
 * Dead letters: to be looked at, and to be sent back to where they came from.
 *
 * <p>For users: the bean {@link dev.idempotency.redrive.DeadLetters} and the values that it takes and gives.
 */
@NullMarked
package dev.idempotency.redrive;

import org.jspecify.annotations.NullMarked;
