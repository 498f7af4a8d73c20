package dev.idempotency.check;

import dev.idempotency.definition.ListenerFault;
import dev.idempotency.definition.ProtectedListener;

/** Passes on what was found when the listener was defined. */
final class FaultCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        for (ListenerFault fault : listener.faults()) {
            Check check =
                    switch (fault.kind()) {
                        case CONSUMER_NAME -> Check.CONSUMER_NAME;
                        case KEY_EXPRESSION -> Check.KEY_EXPRESSION;
                        case TRANSACTION_MANAGER -> Check.TRANSACTION_MANAGER;
                        case RETENTION -> Check.RETENTION_VALUE;
                        case INBOX -> Check.INBOX;
                        case PROXY -> Check.NOT_PROXIED;
                        case TRANSACTION_PER_POLL -> Check.TRANSACTION_PER_POLL;
                    };
            findings.add(check, listener, fault.what(), fault.remedy());
        }
    }
}
