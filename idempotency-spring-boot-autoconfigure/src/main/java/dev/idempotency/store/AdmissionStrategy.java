package dev.idempotency.store;

import java.util.List;
import java.util.function.BooleanSupplier;

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

    /**
     * Watches the transaction in which messages were let in.
     *
     * @return asked before the commit: whether the database still holds it. It does not if it has ended it by itself, after
     *     an error that the listener has caught
     */
    BooleanSupplier watchTransaction(Admission admission);
}
