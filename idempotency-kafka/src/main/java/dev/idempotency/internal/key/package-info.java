/**
 * From a record to its {@link dev.idempotency.MessageId}: header, SpEL expression, CloudEvents. Internal.
 */
@NullMarked
package dev.idempotency.internal.key;

import org.jspecify.annotations.NullMarked;
