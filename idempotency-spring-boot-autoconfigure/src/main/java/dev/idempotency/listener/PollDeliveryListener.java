package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.BatchFailure;
import dev.idempotency.failure.ConsumerThreadState;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.kafka.RecordObservations;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.serializer.DeserializationException;

/**
 * Makes a batch listener of a record listener: all records of a poll are claimed together, and handed to the listener one
 * by one, in one transaction. After a failure, each has a transaction of its own.
 */
final class PollDeliveryListener<K, V> extends DeliveryListener<MessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final RecordObservations observations;
    private final @Nullable ReadableRecordFilter<K, V> filter;

    PollDeliveryListener(
            MessageListener<K, V> delegate,
            ProtectedMethods methods,
            RecordObservations observations,
            @Nullable ReadableRecordFilter<K, V> filter) {
        super(delegate, methods);
        this.observations = observations;
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
        if (records.size() == 1 || state.isSplit(records) || !areKeysKnown(records)) {
            deliverEach(records, consumer);
        } else {
            deliverTogether(records, consumer);
        }
        state.commit(records);
    }

    /** Whether keys that are taken from the payload can be taken from the values of these records. */
    private boolean areKeysKnown(List<ConsumerRecord<K, V>> records) {
        ListenerDefinition definition = this.methods.representative();
        return definition.candidates().variables().isEmpty()
                || records.stream().allMatch(record -> definition.method().isPayload(record.value()));
    }

    private void deliverTogether(List<ConsumerRecord<K, V>> records, @Nullable Consumer<?, ?> consumer) {
        try {
            List<ConsumerRecord<K, V>> kept = new ArrayList<>(records.size());
            for (ConsumerRecord<K, V> record : records) {
                if (this.filter == null || !this.filter.filter(record)) {
                    kept.add(record);
                }
            }
            if (!kept.isEmpty()) {
                IdempotentInvocation.proceed(new RecordByRecordCall(
                        Delivery.ofBatch(this.methods, kept, null, consumer),
                        this.methods.representative(),
                        position -> call(kept.get(position), consumer)));
            }
        } catch (Throwable ex) {
            throw FailureConverter.toException(ex, records);
        }
    }

    private void deliverEach(List<ConsumerRecord<K, V>> records, @Nullable Consumer<?, ?> consumer) {
        for (ConsumerRecord<K, V> record : records) {
            ConsumerThreadState.current().begin();
            try {
                deliver(record, consumer);
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw BatchFailure.at(record, records, ex);
            }
        }
    }

    private void deliver(ConsumerRecord<K, V> record, @Nullable Consumer<?, ?> consumer) throws Throwable {
        DeserializationException unreadable = ReadableRecordFilter.failureToRead(record);
        if (unreadable != null) {
            throw unreadable;
        }
        if (this.filter == null || !this.filter.filter(record)) {
            Delivery delivery = Delivery.ofRecord(this.methods, record, null, consumer);
            delivery.during(() -> call(record, consumer));
            if (!delivery.isHandled()) {
                ConsumerThreadState.current().begin();
                delivery.requireHandled();
            }
        }
    }

    private void call(ConsumerRecord<K, V> record, @Nullable Consumer<?, ?> consumer) {
        this.observations.observe(record, consumer, () -> this.delegate.onMessage(record, null, consumer));
    }
}
