/**
 * Compares topics with the processed messages: every record that a group has committed must be processed, dead-lettered or
 * recorded as failed.
 *
 * <p>For users: the bean {@link dev.idempotency.reconciliation.Reconciliation}, the values that it takes and gives, and the
 * SPI {@link dev.idempotency.reconciliation.ReconciliationObserver}.
 */
@NullMarked
package dev.idempotency.reconciliation;

import org.jspecify.annotations.NullMarked;
