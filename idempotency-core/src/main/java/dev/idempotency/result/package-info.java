/**
 * Results: what the work for a message returned, kept with its claim and given again to duplicates.
 *
 * <p>For users: {@link dev.idempotency.result.ResultConverter}, a bean to be replaced. What else is public is so for other
 * packages of this library.
 */
@NullMarked
package dev.idempotency.result;

import org.jspecify.annotations.NullMarked;
