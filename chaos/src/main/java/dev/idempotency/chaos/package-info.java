/** Measures safety: real processes, real faults, and a count of messages that were lost or applied twice. */
@NullMarked
package dev.idempotency.chaos;

import org.jspecify.annotations.NullMarked;
