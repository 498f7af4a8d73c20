/**
 * Message keys: {@link dev.idempotency.key.MessageKeyResolver}, a bean that replaces the headers, and {@link
 * dev.idempotency.key.MessageIdHeader} for producers.
 */
@NullMarked
package dev.idempotency.key;

import org.jspecify.annotations.NullMarked;
