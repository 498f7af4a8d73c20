/** Deduplication strategies: one class each. */
@NullMarked
package dev.idempotency.dedup;

import org.jspecify.annotations.NullMarked;
