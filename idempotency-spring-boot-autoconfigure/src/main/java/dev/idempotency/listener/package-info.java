/** Per message: the interceptor, the delivery that is being handled, the attempt, batch arguments, acknowledgments. */
@NullMarked
package dev.idempotency.listener;

import org.jspecify.annotations.NullMarked;
