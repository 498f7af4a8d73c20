/**
 * Deduplication strategies: one class each. Internal.
 */
@NullMarked
package dev.idempotency.internal.dedup;

import org.jspecify.annotations.NullMarked;
