/**
 * Work in the background: what an operator starts for a consumer, one at a time, at a limited rate, and to be cancelled; and
 * what is done again and again by itself. No user's business; public for the other rooms.
 */
@NullMarked
package dev.idempotency.job;

import org.jspecify.annotations.NullMarked;
