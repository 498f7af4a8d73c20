/** Compares the messages sent with those applied and dead-lettered. */
@NullMarked
package dev.idempotency.chaos.check;

import org.jspecify.annotations.NullMarked;
