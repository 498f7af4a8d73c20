package dev.idempotency.reconciliation;

/**
 * Is notified of reconciliations.
 *
 * <p>Define beans of this type. Exceptions of an observer are logged and ignored.
 */
@FunctionalInterface
public interface ReconciliationObserver {

    /** A reconciliation has ended, in whatever state. */
    void reconciled(ReconciliationReport report);
}
