package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.DeliveryContext;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import java.util.ArrayList;
import java.util.List;
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

    private final ListenerDefinition definition;
    private final @Nullable ReadableRecordFilter<K, V> filter;

    /**
     * Stands before a record listener.
     *
     * @param filter what leaves records out, one by one
     */
    PollDeliveryListener(
            MessageListener<K, V> delegate,
            ProtectedMethods methods,
            ListenerDefinition definition,
            @Nullable ReadableRecordFilter<K, V> filter) {
        super(delegate, methods);
        this.definition = definition;
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
        List<ConsumerRecord<K, V>> kept = new ArrayList<>(records.size());
        BatchListenerFailedException undecided = leaveOut(records, kept);
        if (!kept.isEmpty()) {
            process(kept, consumer);
        }
        if (undecided != null) {
            // Only now are those before it done.
            throw NamedFailure.at(undecided.getRecord(), undecided.getMessage(), undecided.getCause());
        }
        DeliveryContext.settle(records);
    }

    /** Collects what the filter does not leave out, up to the first record that it fails at; returns that failure. */
    private @Nullable BatchListenerFailedException leaveOut(
            List<ConsumerRecord<K, V>> records, List<ConsumerRecord<K, V>> kept) {
        for (ConsumerRecord<K, V> record : records) {
            try {
                if (this.filter == null || !this.filter.filter(record)) {
                    kept.add(record);
                }
            } catch (RuntimeException | Error ex) {
                FatalErrors.rethrow(ex);
                return NamedFailure.at(record, ex.getMessage(), ex);
            }
        }
        return null;
    }

    private void process(List<ConsumerRecord<K, V>> records, @Nullable Consumer<?, ?> consumer) {
        ListenerCall call = new RecordByRecordCall(
                Delivery.ofBatch(this.methods, records, null, false),
                this.definition,
                position -> this.delegate.onMessage(records.get(position), null, consumer));
        try {
            IdempotentInvocation.proceed(call);
        } catch (RuntimeException ex) {
            throw ex;
        } catch (Error ex) {
            throw Delivery.asException(ex, records);
        } catch (Throwable ex) {
            throw new KafkaException("The records of a poll could not be processed", ex);
        }
    }
}
