package dev.idempotency.reconciliation;

/**
 * Hears of reconciliations.
 *
 * <p>Define beans of this type to hear of them, too. What an observer throws is logged and goes no further.
 */
@FunctionalInterface
public interface ReconciliationObserver {

    /** A reconciliation has ended, one way or the other. */
    void reconciled(ReconciliationReport report);
}
