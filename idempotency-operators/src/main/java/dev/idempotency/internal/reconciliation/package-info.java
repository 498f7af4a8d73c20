/**
 * Runs reconciliations. Internal.
 */
@NullMarked
package dev.idempotency.internal.reconciliation;

import org.jspecify.annotations.NullMarked;
