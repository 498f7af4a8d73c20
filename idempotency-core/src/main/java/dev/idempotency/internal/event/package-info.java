/**
 * Reports events to listeners, and knows the consumers of the application. Internal.
 */
@NullMarked
package dev.idempotency.internal.event;

import org.jspecify.annotations.NullMarked;
