/**
 * Compares topics with the processed messages: every record that a group has committed must be processed, dead-lettered or
 * recorded as failed.
 *
 * <p>For users: the bean {@link dev.idempotency.reconciliation.Reconciliation}, and its parameters
 * and results.
 */
@NullMarked
package dev.idempotency.reconciliation;

import org.jspecify.annotations.NullMarked;
