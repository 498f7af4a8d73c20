/** Around the listener: the interceptor, the delivery that is being handled, its arguments and acknowledgment. */
@NullMarked
package dev.idempotency.listener;

import org.jspecify.annotations.NullMarked;
