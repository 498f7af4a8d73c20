/** Claims from code: what {@link dev.idempotency.IdempotentOperations} does, and the consumers that were declared for it. */
@NullMarked
package dev.idempotency.operation;

import org.jspecify.annotations.NullMarked;
