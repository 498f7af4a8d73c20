/**
 * Per message: the interceptor, the delivery that is being handled, the attempt, batch arguments, acknowledgments. No user's
 * business; public for the auto-configuration.
 */
@NullMarked
package dev.idempotency.listener;

import org.jspecify.annotations.NullMarked;
