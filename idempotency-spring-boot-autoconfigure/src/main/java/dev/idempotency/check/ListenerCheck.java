package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;

/** Looks at one listener, whose container is complete and not started. */
@FunctionalInterface
interface ListenerCheck {

    void check(ProtectedListener listener, Findings findings);
}
