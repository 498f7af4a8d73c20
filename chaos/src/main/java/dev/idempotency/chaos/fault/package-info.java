/** Fault injection, controlled by the seed. */
@NullMarked
package dev.idempotency.chaos.fault;

import org.jspecify.annotations.NullMarked;
