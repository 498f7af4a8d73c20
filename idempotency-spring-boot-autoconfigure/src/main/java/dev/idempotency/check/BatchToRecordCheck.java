package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;

/** Whether a batch container hands its records to the listener one by one. */
final class BatchToRecordCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        Object adapter = new ContainerFacts(listener.container()).innermostListener();
        if (adapter instanceof BatchMessagingMessageListenerAdapter<?, ?> batch
                && ContainerFacts.field(BatchMessagingMessageListenerAdapter.class, "batchToRecordAdapter", batch)
                        != null) {
            findings.add(
                    Check.BATCH_TO_RECORD,
                    listener,
                    "Its container is a batch container with a BatchToRecordAdapter.",
                    "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                            + " setBatchToRecordAdapter(…) from the container factory.");
        }
    }
}
