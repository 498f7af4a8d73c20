/** The measured safety: real processes, real faults, and a count of what was lost or applied twice. */
@NullMarked
package dev.idempotency.chaos;

import org.jspecify.annotations.NullMarked;
