/** From a record to its {@link dev.idempotency.MessageId}: header, SpEL expression, CloudEvents. */
@NullMarked
package dev.idempotency.key;

import org.jspecify.annotations.NullMarked;
