/**
 * The SPI of claims: {@link dev.idempotency.store.ProcessedMessageStore}, a bean to inject or to replace, with its parameters
 * and results.
 */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
