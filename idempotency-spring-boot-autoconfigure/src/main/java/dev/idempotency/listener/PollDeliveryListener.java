package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.BatchFailure;
import dev.idempotency.failure.ConsumerThreadState;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.kafka.RecordObservations;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Makes a batch listener of a record listener: all records of a poll are claimed together, and handed to the listener one
 * by one, in one transaction. After a failure, each has its own transaction.
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
                IdempotentInvocation.proceed(new PollCall(
                        Delivery.ofBatch(this.methods, kept, null, consumer),
                        this.methods.representative(),
                        position -> call(kept.get(position), consumer)));
            }
        } catch (Throwable ex) {
            throw Delivery.toException(ex, records);
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
        ReadableRecordFilter.requireReadable(record);
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

    /**
     * Calls a record listener with the records of a poll, one after the other.
     *
     * @param delivery all records of a poll
     * @param listener calls its method, after the conversion of its arguments, with the record at a position
     */
    private record PollCall(Delivery delivery, ListenerDefinition definition, IntConsumer listener)
            implements ListenerCall {

        /** Before a record has been converted, its value is the payload. */
        @Override
        public MessageView view(int position) {
            ConsumerRecord<?, ?> record = this.delivery.records().get(position);
            boolean takesRecord = this.definition.method().takesRecord();
            return new MessageView() {

                @Override
                public ConsumerRecord<?, ?> record() {
                    return record;
                }

                @Override
                public @Nullable Object payload() {
                    return record.value();
                }

                @Override
                public @Nullable Object argument(int index) {
                    return takesRecord ? record : record.value();
                }
            };
        }

        @Override
        public @Nullable Object call(List<Candidate> admitted) throws Throwable {
            for (Candidate candidate : admitted) {
                IdempotencyContext.Scope context = IdempotencyContext.open(Collections.singletonList(candidate.id()));
                try {
                    call(candidate);
                } finally {
                    context.close();
                }
            }
            return null;
        }

        private void call(Candidate candidate) throws Throwable {
            Delivery claimed = this.delivery.ofClaimed(candidate.record());
            try {
                claimed.during(() -> this.listener.accept(candidate.position()));
            } catch (ListenerExecutionFailedException ex) {
                throw (ex.getCause() != null) ? ex.getCause() : ex;
            }
            claimed.requireHandled();
        }
    }
}
