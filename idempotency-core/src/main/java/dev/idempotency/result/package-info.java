/**
 * Results: the {@link dev.idempotency.result.ResultConverter}, a bean that can be replaced.
 */
@NullMarked
package dev.idempotency.result;

import org.jspecify.annotations.NullMarked;
