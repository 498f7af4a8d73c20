package dev.idempotency.internal.definition;

import dev.idempotency.StartupCheck;
import java.io.Serial;

/** Why a listener cannot be defined as it is written. */
public record ListenerFault(StartupCheck check, String what, String remedy) {

    static Found found(StartupCheck check, String what, String remedy) {
        return new Found(new ListenerFault(check, what, remedy));
    }

    /** Ends the attempt to resolve something; what else is wrong is found all the same. */
    static final class Found extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        final transient ListenerFault fault;

        private Found(ListenerFault fault) {
            super(fault.what(), null, false, false);
            this.fault = fault;
        }
    }
}
