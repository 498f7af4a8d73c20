/**
 * Per message: the interceptor, the delivery, its transaction, batch arguments, acknowledgments. Internal.
 */
@NullMarked
package dev.idempotency.internal.listener;

import org.jspecify.annotations.NullMarked;
