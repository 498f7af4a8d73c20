package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;

/** Looks at one listener, whose container is complete and not started. */
@FunctionalInterface
interface ListenerCheck {

    void check(ProtectedListener listener, Report report);

    /** Takes what is found of the listener. */
    @FunctionalInterface
    interface Report {

        void add(Check check, String what, String remedy);
    }
}
