package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;
import org.springframework.kafka.listener.adapter.RecordMessagingMessageListenerAdapter;

/** Whether a listener that was to be observed is not, as its records come in batches. */
final class PollObservationCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        ContainerFacts facts = new ContainerFacts(listener.container());
        if (listener.container().getContainerProperties().isObservationEnabled()
                && facts.deliversBatches()
                && facts.innermostListener() instanceof RecordMessagingMessageListenerAdapter) {
            findings.add(
                    Check.POLL_OBSERVATION,
                    listener,
                    "It has transactionPerPoll = true, and its container has observations enabled.",
                    "Begin an observation in the listener, or remove transactionPerPoll = true; if nobody looks at its"
                            + " trace, relax this check.");
        }
    }
}
