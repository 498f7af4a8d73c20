/**
 * Locks of business keys, held until the end of the transaction. Internal.
 */
@NullMarked
package dev.idempotency.internal.lock;

import org.jspecify.annotations.NullMarked;
