/**
 * Results: stored with a claim, and returned to duplicates. Internal.
 */
@NullMarked
package dev.idempotency.internal.result;

import org.jspecify.annotations.NullMarked;
