package dev.idempotency.store;

import dev.idempotency.observe.Duplicate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the messages of one listener are recognised: says, in the listener's transaction, which of them may enter. There is
 * one class for each {@link dev.idempotency.Strategy}.
 */
public interface AdmissionStrategy {

    /**
     * Lets messages in, which becomes binding when the current transaction commits. Waits for another transaction that is
     * about to process one of them.
     *
     * @param candidates messages of one delivery, in order; at least one
     * @throws dev.idempotency.ClaimTimeoutException if that wait takes too long
     * @throws dev.idempotency.UnprotectedListenerException if there is no transaction that the claim would be part of
     */
    Admission admit(List<Candidate> candidates);

    /** Whether letting in is a claim: a statement, whose time is measured. */
    default boolean isClaim() {
        return true;
    }

    /**
     * Asked when something has failed before the commit, as long as the transaction has not ended: whether that can have been
     * in this transaction, rather than in another one such as {@code REQUIRES_NEW}, so that {@link #duplicateOf} is asked.
     */
    default boolean mayBeRefused() {
        return true;
    }

    /**
     * The duplicate that a failure, of the listener or of the commit, shows the message to be. Asked when the transaction, in
     * which it was the only one, has been rolled back.
     *
     * @return {@code null} if it is none, so that it has failed
     */
    default @Nullable Duplicate duplicateOf(Candidate candidate, Throwable failure) {
        return null;
    }
}
