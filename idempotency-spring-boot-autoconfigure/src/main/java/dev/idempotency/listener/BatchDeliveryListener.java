package dev.idempotency.listener;

import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.BatchFailure;
import dev.idempotency.failure.ConsumerThreadState;
import dev.idempotency.failure.FatalErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Binds the batch to the thread while the listener runs. A batch that failed before is delivered record by record, so that
 * a record that fails in a filter or a conversion is found, too.
 */
final class BatchDeliveryListener<K, V> extends DeliveryListener<BatchMessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final @Nullable ReadableRecordFilter<K, V> filter;

    /** The filter is applied before records are bound to the thread, as the arguments are made of those that remain. */
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
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        ConsumerThreadState state = ConsumerThreadState.current();
        state.begin();
        if (state.isSplit(records)) {
            deliverEach(records, acknowledgment, consumer);
        } else {
            deliver(records, acknowledgment, consumer, false);
        }
    }

    private void deliverEach(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        for (int i = 0; i < records.size(); i++) {
            ConsumerThreadState.current().begin();
            OfOneRecord ofRecord = (acknowledgment != null) ? new OfOneRecord() : null;
            try {
                deliver(new ArrayList<>(records.subList(i, i + 1)), ofRecord, consumer, true);
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw BatchFailure.at(records.get(i), records, ex);
            }
            if (ofRecord != null && ofRecord.nacked != null) {
                // All are redelivered, and those before it dropped: an interceptor may have changed their order.
                acknowledgment.nack(0, ofRecord.nacked);
                return;
            }
        }
        ConsumerThreadState.current().commit(records);
        if (acknowledgment != null) {
            acknowledgment.acknowledge();
        }
    }

    private void deliver(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer,
            boolean single) {
        List<ConsumerRecord<K, V>> kept = filter(records);
        if (kept.isEmpty() && (single || isToBeIgnored(acknowledgment))) {
            if (acknowledgment != null) {
                acknowledgment.acknowledge();
            }
            return;
        }
        Delivery delivery = Delivery.ofBatch(this.methods, kept, acknowledgment, consumer);
        delivery.during(() -> call(kept, delivery.acknowledgment(), consumer));
    }

    private List<ConsumerRecord<K, V>> filter(List<ConsumerRecord<K, V>> records) {
        try {
            return (this.filter != null) ? this.filter.filterBatch(records) : records;
        } catch (Throwable ex) {
            throw Delivery.toException(ex, records);
        }
    }

    /** Whether a batch of which the filter leaves nothing is kept from the listener. */
    private boolean isToBeIgnored(@Nullable Acknowledgment acknowledgment) {
        return acknowledgment != null && this.filter != null && this.filter.ignoreEmptyBatch();
    }

    @SuppressWarnings("unchecked") // The container's consumer reads the container's records.
    private void call(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        if (!this.delegate.wantsPollResult()) {
            this.delegate.onMessage(records, acknowledgment, consumer);
            return;
        }
        Map<TopicPartition, List<ConsumerRecord<K, V>>> byPartition = records.stream()
                .collect(Collectors.groupingBy(
                        record -> new TopicPartition(record.topic(), record.partition()),
                        LinkedHashMap::new,
                        Collectors.toList()));
        Map<TopicPartition, OffsetAndMetadata> next = new LinkedHashMap<>();
        records.forEach(record -> next.put(
                new TopicPartition(record.topic(), record.partition()),
                new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "")));
        this.delegate.onMessage(new ConsumerRecords<>(byPartition, next), acknowledgment, (Consumer<K, V>) consumer);
    }

    /** Collects what the listener says of one record of a batch; the batch is acknowledged at the end. */
    private static final class OfOneRecord implements Acknowledgment {

        private @Nullable Duration nacked;

        @Override
        public void acknowledge() {}

        @Override
        public void acknowledge(int index) {}

        @Override
        public void nack(int index, Duration sleep) {
            this.nacked = sleep;
        }
    }
}
