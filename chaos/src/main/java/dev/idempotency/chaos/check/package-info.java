/** What was sent, held against what was applied and dead-lettered. */
@NullMarked
package dev.idempotency.chaos.check;

import org.jspecify.annotations.NullMarked;
