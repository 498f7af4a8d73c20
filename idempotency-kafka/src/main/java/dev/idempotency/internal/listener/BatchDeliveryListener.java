package dev.idempotency.internal.listener;

import dev.idempotency.internal.definition.ProtectedMethods;
import dev.idempotency.internal.failure.ConsumerThreadState;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Binds the batch to the thread while the listener runs. A batch that failed before is delivered record by record, so that
 * a record that fails in a filter or a conversion is found, too.
 */
final class BatchDeliveryListener<K, V> extends DeliveryListener<K, V, BatchMessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    BatchDeliveryListener(
            BatchMessageListener<K, V> delegate,
            ProtectedMethods methods,
            @Nullable RecordFilterStrategy<K, V> filter) {
        super(delegate, methods, filter);
    }

    @Override
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        ConsumerThreadState state = begin(records);
        if (!state.isSplit(records)) {
            deliver(records, acknowledgment, consumer, false);
            return;
        }
        // After a nack, all are redelivered, and those before it dropped: an interceptor may have changed their order.
        DeferredAcknowledgment ofAll =
                (acknowledgment != null) ? new DeferredAcknowledgment(acknowledgment, true) : null;
        boolean all = deliverEach(records, record -> {
            deliver(new ArrayList<>(List.of(record)), ofAll, consumer, true);
            return ofAll == null || !ofAll.isNacked();
        });
        if (all) {
            state.commit(records);
        }
        if (ofAll != null) {
            ofAll.release();
        }
    }

    private void deliver(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer,
            boolean single) {
        List<ConsumerRecord<K, V>> kept = filter(records);
        if (kept.isEmpty() && (single || isIgnored(acknowledgment))) {
            ConsumerThreadState.current().commit(records);
            if (acknowledgment != null) {
                acknowledgment.acknowledge();
            }
            return;
        }
        Delivery delivery = new Delivery(this.methods, kept, true, acknowledgment, consumer);
        delivery.during(() -> this.delegate.onMessage(kept, delivery.acknowledgment, consumer));
        if (!delivery.isNacked()) {
            // Those that the filter has left out are done, too.
            ConsumerThreadState.current().commit(records);
        }
    }

    private List<ConsumerRecord<K, V>> filter(List<ConsumerRecord<K, V>> records) {
        if (this.filter == null) {
            return records;
        }
        records.forEach(DeliveryListener::requireReadable);
        try {
            // A filter removes records from what it is given.
            return this.filter.filterBatch(new ArrayList<>(records));
        } catch (Throwable ex) {
            throw Delivery.toException(ex);
        }
    }

    /** Whether a batch of which the filter leaves nothing is kept from the listener. */
    private boolean isIgnored(@Nullable Acknowledgment acknowledgment) {
        return acknowledgment != null && this.filter != null && this.filter.ignoreEmptyBatch();
    }
}
