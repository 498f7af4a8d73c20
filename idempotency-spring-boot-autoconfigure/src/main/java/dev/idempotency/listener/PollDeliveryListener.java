package dev.idempotency.listener;

import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Makes a batch container of that of a record listener: all records of a poll are claimed, and handed to the listener one
 * by one, in one transaction.
 */
final class PollDeliveryListener<K, V> extends AbstractDelegatingMessageListenerAdapter<MessageListener<K, V>>
        implements BatchAcknowledgingConsumerAwareMessageListener<K, V> {

    private final ListenerEndpoint endpoint;
    private final ListenerDefinition definition;

    PollDeliveryListener(MessageListener<K, V> delegate, ListenerEndpoint endpoint, ListenerDefinition definition) {
        super(delegate);
        this.endpoint = endpoint;
        this.definition = definition;
    }

    @Override
    public void onMessage(
            List<ConsumerRecord<K, V>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        if (records.isEmpty()) {
            return;
        }
        RecordsOfPoll<K, V> calls =
                new RecordsOfPoll<>(this.endpoint, records, record -> this.delegate.onMessage(record, null, consumer));
        try {
            IdempotentInvocation.proceed(calls, Delivery.ofBatch(this.endpoint, records, null, false), this.definition);
        } catch (RuntimeException | Error ex) {
            throw ex;
        } catch (Throwable ex) {
            throw new KafkaException("The records of a poll could not be processed", ex);
        }
    }
}
