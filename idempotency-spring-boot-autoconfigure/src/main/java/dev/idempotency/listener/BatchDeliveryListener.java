package dev.idempotency.listener;

import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.DeliveryContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Remembers the batch for the thread while the listener runs, and takes it apart where that is asked for: so a record
 * that fails before the listener is reached, in a filter or a conversion, is found as well.
 */
final class BatchDeliveryListener<K, V> extends DeliveryListener<BatchMessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final @Nullable ReadableRecordFilter<K, V> filter;

    /**
     * Stands before a batch listener.
     *
     * @param filter what leaves records out; before they are remembered, as the arguments are made of the others
     */
    BatchDeliveryListener(
            BatchMessageListener<K, V> delegate,
            ProtectedMethods methods,
            @Nullable ReadableRecordFilter<K, V> filter) {
        super(delegate, methods);
        this.filter = filter;
    }

    @Override
    @Nullable
    ReadableRecordFilter<K, V> filter() {
        return this.filter;
    }

    @Override
    public boolean wantsPollResult() {
        return this.filter == null && this.delegate.wantsPollResult();
    }

    @Override
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        deliverTogetherOrEach(records, acknowledgment, (some, ofThem) -> deliverFiltered(some, ofThem, consumer));
    }

    @Override
    public void onMessage(
            ConsumerRecords<K, V> records, @Nullable Acknowledgment acknowledgment, Consumer<K, V> consumer) {
        List<ConsumerRecord<K, V>> all = new ArrayList<>(records.count());
        records.forEach(all::add);
        deliverTogetherOrEach(
                all,
                acknowledgment,
                (some, ofThem) -> deliver(
                        some,
                        ofThem,
                        deferred ->
                                this.delegate.onMessage((some == all) ? records : pollOf(some), deferred, consumer)));
    }

    /** Delivers the batch as it is or, where that is asked for, each record as a batch of its own. */
    private void deliverTogetherOrEach(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            BiConsumer<List<ConsumerRecord<K, V>>, @Nullable Acknowledgment> delivery) {
        if (!DeliveryContext.isSeparationRequested()) {
            delivery.accept(records, acknowledgment);
            return;
        }
        SeparatedBatch.processEach(records, position -> {
            NackOnly ofRecord = (acknowledgment != null) ? new NackOnly() : null;
            try {
                delivery.accept(new ArrayList<>(records.subList(position, position + 1)), ofRecord);
            } catch (ListenerExecutionFailedException ex) {
                throw (ex.getCause() != null) ? ex.getCause() : ex;
            }
            return ofRecord == null || !ofRecord.nacked;
        });
        DeliveryContext.settle(records);
    }

    private static <K, V> ConsumerRecords<K, V> pollOf(List<ConsumerRecord<K, V>> one) {
        ConsumerRecord<K, V> record = one.get(0);
        return new ConsumerRecords<>(Map.of(new TopicPartition(record.topic(), record.partition()), one), Map.of());
    }

    private void deliverFiltered(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        DeliveryContext.begin();
        List<ConsumerRecord<K, V>> kept = filter(records);
        if (kept.isEmpty() && isToBeIgnored(acknowledgment)) {
            if (acknowledgment != null) {
                acknowledgment.acknowledge();
            }
        } else {
            deliver(kept, acknowledgment, deferred -> this.delegate.onMessage(kept, deferred, consumer));
        }
    }

    private List<ConsumerRecord<K, V>> filter(List<ConsumerRecord<K, V>> records) {
        if (this.filter == null) {
            return records;
        }
        try {
            return this.filter.filterBatch(records);
        } catch (Throwable ex) {
            throw FailureConverter.toException(ex, records);
        }
    }

    /** Whether a batch that the filter has left nothing of is kept from the listener. */
    private boolean isToBeIgnored(@Nullable Acknowledgment acknowledgment) {
        return DeliveryContext.isSeparationRequested()
                || (acknowledgment != null && this.filter != null && this.filter.ignoreEmptyBatch());
    }

    private void deliver(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            java.util.function.Consumer<@Nullable Acknowledgment> listener) {
        boolean retriedInPlace = DeliveryContext.isRetriedInPlace() && !DeliveryContext.isSeparationRequested();
        Delivery delivery = Delivery.ofBatch(this.methods, records, acknowledgment, retriedInPlace);
        delivery.during(() -> listener.accept(delivery.acknowledgment()));
    }

    /** Of a batch that is taken apart the error handler acknowledges what has succeeded. */
    private static final class NackOnly implements Acknowledgment {

        private boolean nacked;

        @Override
        public void acknowledge() {}

        @Override
        public void acknowledge(int index) {}

        @Override
        public void nack(int index, Duration sleep) {
            this.nacked = true;
        }
    }
}
