package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;

/** Remembers the record for the thread while the listener runs. */
final class RecordDeliveryListener<K, V> extends AbstractDelegatingMessageListenerAdapter<MessageListener<K, V>>
        implements AcknowledgingConsumerAwareMessageListener<K, V>, IdempotencyInfrastructure {

    private final ProtectedMethods endpoint;

    RecordDeliveryListener(MessageListener<K, V> delegate, ProtectedMethods endpoint) {
        super(delegate);
        this.endpoint = endpoint;
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
    public void onMessage(
            ConsumerRecord<K, V> record, @Nullable Acknowledgment acknowledgment, @Nullable Consumer<?, ?> consumer) {
        Delivery delivery = Delivery.ofRecord(this.endpoint, record, acknowledgment);
        delivery.during(() -> this.delegate.onMessage(record, delivery.acknowledgment(), consumer));
    }
}
