package dev.idempotency.internal.dedup;

import dev.idempotency.internal.store.ClaimTransaction;
import java.util.List;

/** Lets every message in, as only the end of its transaction shows which of them are duplicates. */
interface ClaimAfterCallStrategy extends ClaimStrategy {

    ClaimTransaction transaction();

    @Override
    default ClaimResult claim(List<InboundMessage> messages) {
        transaction().require();
        return new ClaimResult(messages, List.of());
    }

    @Override
    default boolean isClaim() {
        return false;
    }
}
