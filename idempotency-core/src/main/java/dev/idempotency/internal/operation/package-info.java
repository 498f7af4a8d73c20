/**
 * Claims from code: what {@link dev.idempotency.IdempotentOperations} does, and the consumers that are declared for it.
 * Internal.
 */
@NullMarked
package dev.idempotency.internal.operation;

import org.jspecify.annotations.NullMarked;
