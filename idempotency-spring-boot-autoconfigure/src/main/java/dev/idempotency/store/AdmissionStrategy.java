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
     * in this transaction, rather than in another one such as {@code REQUIRES_NEW}, so that {@link #isRefusal} is asked later.
     *
     * @return by default, that it can
     */
    default boolean mayBeRefused() {
        return true;
    }

    /**
     * Whether a failure, of the listener or of the commit, says that one of the messages that were let in may not enter after
     * all. Asked when the transaction has been rolled back.
     *
     * @return by default, that it does not
     */
    default boolean isRefusal(Throwable failure) {
        return false;
    }

    /**
     * The duplicate that was refused.
     *
     * @param failure a refusal, of a transaction in which this message was the only one
     * @return {@code null} if it is none, so that it has failed
     */
    default @Nullable Duplicate duplicateOf(Candidate refused, Throwable failure) {
        return null;
    }
}
