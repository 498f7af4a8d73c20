/**
 * Compares topics with the processed messages. The bean is {@link dev.idempotency.reconciliation.Reconciliation}.
 */
@NullMarked
package dev.idempotency.reconciliation;

import org.jspecify.annotations.NullMarked;
