package dev.idempotency.internal.listener;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.definition.ProtectedMethods;
import dev.idempotency.internal.failure.ConsumerThreadState;
import dev.idempotency.internal.key.MessageView;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Makes a batch listener of a record listener: all records of a poll are claimed together, and handed to the listener one
 * by one, in one transaction. After a failure, each has its own transaction.
 */
final class PollDeliveryListener<K, V> extends DeliveryListener<K, V, MessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    PollDeliveryListener(
            MessageListener<K, V> delegate, ProtectedMethods methods, @Nullable RecordFilterStrategy<K, V> filter) {
        super(delegate, methods, filter);
    }

    @Override
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        ConsumerThreadState state = begin(records);
        if (records.size() == 1 || state.isSplit(records) || !areKeysKnown(records)) {
            deliverEach(records, record -> {
                deliver(record, consumer);
                return true;
            });
        } else {
            deliverTogether(records, consumer);
        }
        state.commit(records);
    }

    /** Whether keys that are taken from the payload can be taken from the values of these records. */
    private boolean areKeysKnown(List<ConsumerRecord<K, V>> records) {
        ListenerDefinition definition = this.methods.representative();
        return definition.messageFactory().variables().isEmpty()
                || records.stream().allMatch(record -> definition.method().isPayload(record.value()));
    }

    private void deliverTogether(List<ConsumerRecord<K, V>> records, @Nullable Consumer<?, ?> consumer) {
        try {
            List<ConsumerRecord<K, V>> kept =
                    records.stream().filter(record -> !isLeftOut(record)).toList();
            if (!kept.isEmpty()) {
                new PollCall(kept, consumer).proceed();
            }
        } catch (Throwable ex) {
            throw Delivery.toException(ex);
        }
    }

    private void deliver(ConsumerRecord<K, V> record, @Nullable Consumer<?, ?> consumer) {
        if (!isLeftOut(record)) {
            new Delivery(this.methods, List.of(record), false, null, consumer)
                    .during(() -> this.delegate.onMessage(record, null, consumer));
        }
    }

    private boolean isLeftOut(ConsumerRecord<K, V> record) {
        requireReadable(record);
        return this.filter != null && this.filter.filter(record);
    }

    /** Calls a record listener with the records of a poll, one after the other. */
    private final class PollCall extends IdempotentInvocation {

        private final List<ConsumerRecord<K, V>> polled;
        private final @Nullable Consumer<?, ?> consumer;

        PollCall(List<ConsumerRecord<K, V>> polled, @Nullable Consumer<?, ?> consumer) {
            super(
                    new Delivery(PollDeliveryListener.this.methods, polled, true, null, consumer),
                    PollDeliveryListener.this.methods.representative());
            this.polled = polled;
            this.consumer = consumer;
        }

        @Override
        MessageView view(int position) {
            return new UnconvertedMessage(
                    this.polled.get(position), this.definition.method().takesRecord());
        }

        @Override
        @Nullable
        Object call(List<InboundMessage> accepted) throws Throwable {
            for (InboundMessage message : accepted) {
                IdempotencyContextHolder.Scope context =
                        IdempotencyContextHolder.open(Collections.singletonList(message.id()));
                try {
                    ConsumerRecord<K, V> record = this.polled.get(message.position());
                    this.delivery
                            .ofClaimed(record)
                            .during(() -> PollDeliveryListener.this.delegate.onMessage(record, null, this.consumer));
                } catch (ListenerExecutionFailedException ex) {
                    throw (ex.getCause() != null) ? ex.getCause() : ex;
                } finally {
                    context.close();
                }
            }
            return null;
        }
    }

    /** A message before it is converted: the value is the payload, unless the method takes the record. */
    record UnconvertedMessage(ConsumerRecord<?, ?> record, boolean takesRecord) implements MessageView {

        @Override
        public @Nullable Object payload() {
            return this.record.value();
        }

        @Override
        public @Nullable Object argument(int index) {
            return this.takesRecord ? this.record : this.record.value();
        }
    }
}
