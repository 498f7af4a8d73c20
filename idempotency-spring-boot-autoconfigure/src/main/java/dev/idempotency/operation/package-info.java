/**
 * Claims from code: what {@link dev.idempotency.IdempotentOperations} does, and the consumers that were declared for it. No
 * user's business; public for other packages.
 */
@NullMarked
package dev.idempotency.operation;

import org.jspecify.annotations.NullMarked;
