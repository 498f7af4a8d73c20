package dev.idempotency.listener;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;

/** Remembers the batch for the thread while the listener runs. */
final class BatchDeliveryListener<K, V> extends AbstractDelegatingMessageListenerAdapter<BatchMessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final ListenerEndpoint endpoint;

    /** The first record of the batch that failed last on this thread; fetched anew, it would be another object. */
    private final ThreadLocal<@Nullable ConsumerRecord<K, V>> failed = new ThreadLocal<>();

    BatchDeliveryListener(BatchMessageListener<K, V> delegate, ListenerEndpoint endpoint) {
        super(delegate);
        this.endpoint = endpoint;
    }

    @Override
    public boolean wantsPollResult() {
        return this.delegate.wantsPollResult();
    }

    @Override
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        deliver(records, acknowledgment, deferred -> this.delegate.onMessage(records, deferred, consumer));
    }

    @Override
    public void onMessage(
            ConsumerRecords<K, V> records, @Nullable Acknowledgment acknowledgment, Consumer<K, V> consumer) {
        List<ConsumerRecord<K, V>> list = new ArrayList<>(records.count());
        records.forEach(list::add);
        deliver(list, acknowledgment, deferred -> this.delegate.onMessage(records, deferred, consumer));
    }

    private void deliver(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            java.util.function.Consumer<@Nullable Acknowledgment> listener) {
        ConsumerRecord<K, V> first = records.isEmpty() ? null : records.get(0);
        boolean retriedInPlace = first != null && this.failed.get() == first;
        this.failed.set(first);
        Delivery delivery = Delivery.ofBatch(this.endpoint, records, acknowledgment, retriedInPlace);
        delivery.during(() -> listener.accept(delivery.acknowledgment()));
        this.failed.remove();
    }
}
