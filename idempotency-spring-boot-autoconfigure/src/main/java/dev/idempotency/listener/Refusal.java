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

    /** The message that is a duplicate, as the failure says. Several are redelivered, and processed one by one. */
    @Nullable
    Duplicate findDuplicate(List<Candidate> candidates, Throwable failure) {
        FatalErrors.rethrow(failure);
        try {
            return (candidates.size() == 1 && this.possible && this.strategy.isRefusal(failure))
                    ? this.strategy.duplicateOf(candidates.get(0), failure)
                    : null;
        } catch (RuntimeException ex) {
            // It is redelivered until the database can be asked.
            failure.addSuppressed(ex);
            return null;
        }
    }
}
