package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;

/** Stands before a listener, remembers what it is given, and hears which partitions come and go. */
abstract class DeliveryListener<T> extends AbstractDelegatingMessageListenerAdapter<T>
        implements IdempotencyInfrastructure {

    final ProtectedMethods methods;

    DeliveryListener(T delegate, ProtectedMethods methods) {
        super(delegate);
        this.methods = methods;
    }

    @Override
    public final void onPartitionsAssigned(Map<TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
        this.methods.topics().assigned(assignments);
        super.onPartitionsAssigned(assignments, callback);
    }

    @Override
    public final void onPartitionsRevoked(@Nullable Collection<TopicPartition> partitions) {
        this.methods.topics().revoked(partitions);
        super.onPartitionsRevoked(partitions);
    }
}
