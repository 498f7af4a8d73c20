/**
 * From a record to its {@link dev.idempotency.MessageId}: header, SpEL expression, CloudEvents.
 *
 * <p>For users: {@link dev.idempotency.key.MessageKeyResolver}, a bean that replaces the headers. What else is public is so for
 * other packages.
 */
@NullMarked
package dev.idempotency.key;

import org.jspecify.annotations.NullMarked;
