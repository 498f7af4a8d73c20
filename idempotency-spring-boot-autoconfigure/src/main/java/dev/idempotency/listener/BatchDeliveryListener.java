package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.BatchSeparation;
import dev.idempotency.failure.SettledDelivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Remembers the batch for the thread while the listener runs, and takes it apart where that is asked for: so a record
 * that fails before the listener is reached, in a filter or a conversion, is found as well.
 */
final class BatchDeliveryListener<K, V> extends AbstractDelegatingMessageListenerAdapter<BatchMessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V>, IdempotencyInfrastructure {

    private final ProtectedMethods endpoint;
    private final @Nullable RecordFilterStrategy<K, V> filter;

    /** The first record of the batch that failed last on this thread; fetched anew, it would be another object. */
    private final ThreadLocal<@Nullable ConsumerRecord<K, V>> failed = new ThreadLocal<>();

    /**
     * Stands before a batch listener.
     *
     * @param filter what leaves records out; before they are remembered, as the arguments are made of the others
     */
    BatchDeliveryListener(
            BatchMessageListener<K, V> delegate,
            ProtectedMethods endpoint,
            @Nullable RecordFilterStrategy<K, V> filter) {
        super(delegate);
        this.endpoint = endpoint;
        this.filter = filter;
    }

    @Override
    public void onPartitionsAssigned(Map<TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
        this.endpoint.topics().assigned(assignments);
        super.onPartitionsAssigned(assignments, callback);
    }

    @Override
    public void onPartitionsRevoked(@Nullable Collection<TopicPartition> partitions) {
        this.endpoint.topics().revoked(partitions);
        super.onPartitionsRevoked(partitions);
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
        if (BatchSeparation.isRequested()) {
            deliverEach(records, acknowledgment, consumer, this::deliverFiltered);
        } else {
            deliverFiltered(records, acknowledgment, consumer);
        }
    }

    @Override
    public void onMessage(
            ConsumerRecords<K, V> records, @Nullable Acknowledgment acknowledgment, Consumer<K, V> consumer) {
        List<ConsumerRecord<K, V>> list = new ArrayList<>(records.count());
        records.forEach(list::add);
        if (BatchSeparation.isRequested()) {
            deliverEach(
                    list,
                    acknowledgment,
                    consumer,
                    (one, itsAcknowledgment, itsConsumer) -> deliver(
                            one,
                            itsAcknowledgment,
                            deferred -> this.delegate.onMessage(pollOf(one), deferred, consumer)));
        } else {
            deliver(list, acknowledgment, deferred -> this.delegate.onMessage(records, deferred, consumer));
        }
    }

    private static <K, V> ConsumerRecords<K, V> pollOf(List<ConsumerRecord<K, V>> one) {
        ConsumerRecord<K, V> record = one.get(0);
        return new ConsumerRecords<>(Map.of(new TopicPartition(record.topic(), record.partition()), one), Map.of());
    }

    private void deliverFiltered(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        SettledDelivery.begin();
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
        } catch (Error ex) {
            throw Delivery.asException(ex, records);
        }
    }

    /** Whether a batch that the filter has left nothing of is kept from the listener. */
    private boolean isToBeIgnored(@Nullable Acknowledgment acknowledgment) {
        return BatchSeparation.isRequested()
                || (acknowledgment != null && this.filter != null && this.filter.ignoreEmptyBatch());
    }

    /** Delivers each record as a batch of its own, up to the first that fails. */
    private void deliverEach(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer,
            BatchAcknowledgingConsumerAwareMessageListener<K, V> listener) {
        SeparatedBatch.processEach(records, position -> {
            NackOnly ofRecord = (acknowledgment != null) ? new NackOnly() : null;
            try {
                listener.onMessage(new ArrayList<>(records.subList(position, position + 1)), ofRecord, consumer);
            } catch (ListenerExecutionFailedException ex) {
                throw (ex.getCause() != null) ? ex.getCause() : ex;
            }
            if (ofRecord != null && ofRecord.nacked) {
                throw new NackedException();
            }
        });
        SettledDelivery.end(records);
    }

    private void deliver(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            java.util.function.Consumer<@Nullable Acknowledgment> listener) {
        ConsumerRecord<K, V> first = records.isEmpty() ? null : records.get(0);
        boolean retriedInPlace = first != null && this.failed.get() == first && !BatchSeparation.isRequested();
        this.failed.set(first);
        Delivery delivery = Delivery.ofBatch(this.endpoint, records, acknowledgment, retriedInPlace);
        delivery.during(() -> listener.accept(delivery.acknowledgment()));
        this.failed.remove();
    }

    /** Of a batch that is taken apart the error handler acknowledges what has succeeded. */
    private static final class NackOnly implements Acknowledgment {

        private boolean nacked;

        @Override
        public void acknowledge() {}

        @Override
        public void acknowledge(int index) {}

        @Override
        public void nack(Duration sleep) {
            this.nacked = true;
        }

        @Override
        public void nack(int index, Duration sleep) {
            this.nacked = true;
        }
    }
}
