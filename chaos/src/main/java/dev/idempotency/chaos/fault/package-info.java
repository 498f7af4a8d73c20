/** What goes wrong, on purpose and by the seed. */
@NullMarked
package dev.idempotency.chaos.fault;

import org.jspecify.annotations.NullMarked;
