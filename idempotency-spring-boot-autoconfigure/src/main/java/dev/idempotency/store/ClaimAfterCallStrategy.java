package dev.idempotency.store;

import java.util.List;

/** Lets every message in, as only the end of its transaction shows which of them are duplicates. */
interface ClaimAfterCallStrategy extends AdmissionStrategy {

    /** The transaction of the listener. */
    ClaimTransaction transaction();

    @Override
    default Admission admit(List<Candidate> candidates) {
        transaction().require();
        return new Admission(candidates, List.of());
    }

    @Override
    default boolean isClaim() {
        return false;
    }
}
