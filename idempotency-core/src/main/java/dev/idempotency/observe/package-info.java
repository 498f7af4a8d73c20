/**
 * Events: outcomes of messages, reported once they are certain, and runs of the jobs.
 *
 * <p>For users: beans of type {@link dev.idempotency.observe.IdempotencyEventListener}, and the parameters of its methods. All
 * other public types are internal.
 */
@NullMarked
package dev.idempotency.observe;

import org.jspecify.annotations.NullMarked;
