package dev.idempotency.listener;

import dev.idempotency.failure.FatalErrors;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether the failure of a transaction shows that one of its messages is a duplicate, as the violation of a constraint does.
 * Only a failure in this transaction counts, which must be looked at before it ends.
 */
final class Refusal {

    private final AdmissionStrategy strategy;
    private boolean possible = true;
    private boolean found;

    Refusal(AdmissionStrategy strategy) {
        this.strategy = strategy;
    }

    /** Something has failed, and the transaction has not ended: looks whether that was in this one. */
    void look() {
        try {
            this.possible = this.strategy.mayBeRefused();
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
