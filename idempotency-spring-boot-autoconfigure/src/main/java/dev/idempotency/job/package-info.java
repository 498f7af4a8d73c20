/**
 * Work that an operator starts for a consumer: in the background, one at a time, at a limited rate, and to be cancelled. No
 * user's business; public for the other rooms.
 */
@NullMarked
package dev.idempotency.job;

import org.jspecify.annotations.NullMarked;
