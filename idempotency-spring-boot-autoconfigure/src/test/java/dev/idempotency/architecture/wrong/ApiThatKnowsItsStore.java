package dev.idempotency.architecture.wrong;

import dev.idempotency.architecture.wrong.store.StoreThatKnowsItsListener;

/** Breaks the rule that what a user touches imports no other package. */
public interface ApiThatKnowsItsStore {

    StoreThatKnowsItsListener store();
}
