package dev.idempotency.listener;

import dev.idempotency.definition.PollSharing;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.DeliveryContext;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Makes a batch container of that of a record listener: all records of a poll are claimed, and handed to the listener one
 * by one, in one transaction.
 */
final class PollDeliveryListener<K, V> extends DeliveryListener<MessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final RecordSurroundings<K, V> surroundings;
    private final @Nullable ReadableRecordFilter<K, V> filter;

    /**
     * Stands before a record listener.
     *
     * @param surroundings what is around each record
     * @param filter what leaves records out, one by one
     */
    PollDeliveryListener(
            MessageListener<K, V> delegate,
            ProtectedMethods methods,
            RecordSurroundings<K, V> surroundings,
            @Nullable ReadableRecordFilter<K, V> filter) {
        super(delegate, methods);
        this.surroundings = surroundings;
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
        DeliveryContext.begin();
        try {
            if (this.methods.sharing() == PollSharing.CLAIMED_TOGETHER) {
                claimTogether(records, consumer);
            } else {
                new OneByOnePoll<>(this.delegate, this.methods, this.filter, this.surroundings, records, consumer)
                        .process();
            }
        } catch (RuntimeException ex) {
            throw ex;
        } catch (Error ex) {
            throw FailureConverter.toException(ex, records);
        } catch (Throwable ex) {
            throw new KafkaException("The records of a poll could not be processed", ex);
        }
        DeliveryContext.settle(records);
    }

    private void claimTogether(List<ConsumerRecord<K, V>> records, @Nullable Consumer<?, ?> consumer) throws Throwable {
        List<ConsumerRecord<K, V>> kept = new ArrayList<>(records.size());
        BatchListenerFailedException undecided = leaveOut(records, kept);
        if (!kept.isEmpty()) {
            IntFunction<RecordVisit<?, ?>> visits = this.surroundings.areEmpty()
                    ? null
                    : position -> this.surroundings.visit(kept.get(position), consumer);
            RecordVisits begun = new RecordVisits();
            try {
                IdempotentInvocation.proceed(new RecordByRecordCall(
                        Delivery.ofBatch(this.methods, kept, null, false),
                        this.methods.representative(),
                        position -> this.delegate.onMessage(kept.get(position), null, consumer),
                        visits,
                        begun));
            } finally {
                begun.end();
            }
        }
        if (undecided != null) {
            // Only now are those before it done; it is not.
            DeliveryContext.begin();
            throw NamedFailure.at(undecided.getRecord(), undecided.getMessage(), undecided.getCause());
        }
    }

    /** Collects what the filter does not leave out, up to the first record that it fails at; returns that failure. */
    private @Nullable BatchListenerFailedException leaveOut(
            List<ConsumerRecord<K, V>> records, List<ConsumerRecord<K, V>> kept) {
        for (ConsumerRecord<K, V> record : records) {
            try {
                if (this.filter == null || !this.filter.filter(record)) {
                    kept.add(record);
                }
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                return NamedFailure.at(record, ex.getMessage(), ex);
            }
        }
        return null;
    }
}
