/**
 * Events: outcomes of messages, reported once they are certain, and runs of jobs. Define beans of type {@link
 * dev.idempotency.event.IdempotencyEventListener}.
 */
@NullMarked
package dev.idempotency.event;

import org.jspecify.annotations.NullMarked;
