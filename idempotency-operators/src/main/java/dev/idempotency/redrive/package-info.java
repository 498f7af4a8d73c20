/**
 * Dead letters: listed, and sent back to their topics. The bean is {@link dev.idempotency.redrive.DeadLetters}.
 */
@NullMarked
package dev.idempotency.redrive;

import org.jspecify.annotations.NullMarked;
