package dev.idempotency.metrics;

import dev.idempotency.ClaimTimeoutException;
import java.util.Locale;

/** How a claim was answered. */
enum ClaimResult {

    /** All its messages were free. */
    CLAIMED,

    /** All had been processed before. */
    DUPLICATE,

    /** A batch with some of each. */
    MIXED,

    /** It waited too long for another transaction. */
    TIMEOUT,

    /** It was not answered: the database refused or did not reply. */
    FAILED;

    static ClaimResult of(int claimed, int duplicates) {
        if (duplicates == 0) {
            return CLAIMED;
        }
        return (claimed == 0) ? DUPLICATE : MIXED;
    }

    static ClaimResult of(RuntimeException failure) {
        return (failure instanceof ClaimTimeoutException) ? TIMEOUT : FAILED;
    }

    String tag() {
        return name().toLowerCase(Locale.ROOT);
    }
}
