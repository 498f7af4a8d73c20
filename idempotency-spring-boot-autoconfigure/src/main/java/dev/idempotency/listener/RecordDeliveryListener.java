package dev.idempotency.listener;

import dev.idempotency.definition.ProtectedMethods;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.Acknowledgment;

/** Remembers the record for the thread while the listener runs. */
final class RecordDeliveryListener<K, V> extends DeliveryListener<MessageListener<K, V>>
        implements AcknowledgingConsumerAwareMessageListener<K, V> {

    RecordDeliveryListener(MessageListener<K, V> delegate, ProtectedMethods methods) {
        super(delegate, methods);
    }

    @Override
    public void onMessage(
            ConsumerRecord<K, V> record, @Nullable Acknowledgment acknowledgment, @Nullable Consumer<?, ?> consumer) {
        Delivery delivery = Delivery.ofRecord(this.methods, record, acknowledgment, consumer);
        delivery.during(() -> this.delegate.onMessage(record, delivery.acknowledgment(), consumer));
    }
}
