package dev.idempotency.listener;

import dev.idempotency.definition.ListenerTransaction;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.Candidate;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the failure of a transaction says that one of its messages is a duplicate, as the violation of a constraint does. That
 * can only be if it failed in this transaction, which is to be looked at before it has ended.
 */
final class Refusal {

    private final AdmissionStrategy strategy;
    private BooleanSupplier anotherFailed = () -> false;
    private boolean possible = true;
    private boolean found;

    Refusal(AdmissionStrategy strategy) {
        this.strategy = strategy;
    }

    /** The listener is about to be called, and may open other transactions, which may fail, too. */
    void watchOthers() {
        this.anotherFailed = ListenerTransaction.watchOthers();
    }

    /** Something has failed, and the transaction has not ended: looks whether that was in this one. */
    void look() {
        try {
            this.possible = this.strategy.mayBeRefused(this.anotherFailed.getAsBoolean());
        } catch (RuntimeException ex) {
            this.possible = false;
        }
    }

    /** Whether the failure with which it was rolled back says that one of its messages may not enter after all. */
    boolean isSaidBy(Throwable failure) {
        return this.possible && this.strategy.isRefusal(failure);
    }

    /** The message that is a duplicate, as the failure says; of several it says only that one of them is. */
    @Nullable
    Duplicate findDuplicate(List<Candidate> candidates, Throwable failure) {
        FatalErrors.rethrow(failure);
        try {
            this.found = isSaidBy(failure);
            return (this.found && candidates.size() == 1)
                    ? this.strategy.duplicateOf(candidates.get(0), failure)
                    : null;
        } catch (RuntimeException ex) {
            // The failure comes again and, where nobody could be asked, until somebody can.
            failure.addSuppressed(ex);
            return null;
        }
    }

    /** Whether a failure was found to say so. */
    boolean isFound() {
        return this.found;
    }
}
