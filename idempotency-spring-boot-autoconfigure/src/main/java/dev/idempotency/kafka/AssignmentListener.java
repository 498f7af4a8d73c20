package dev.idempotency.kafka;

import java.util.Collection;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;

/**
 * Tells which partitions are assigned, and passes everything on to the container's own listener as the container would.
 *
 * @param assigned hears of them, before any of their records is delivered
 * @param delegate the container's own
 */
record AssignmentListener(
        java.util.function.Consumer<Collection<TopicPartition>> assigned, ConsumerRebalanceListener delegate)
        implements ConsumerAwareRebalanceListener {

    @Override
    public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
        this.assigned.accept(partitions);
        if (this.delegate instanceof ConsumerAwareRebalanceListener aware) {
            aware.onPartitionsAssigned(consumer, partitions);
        } else {
            this.delegate.onPartitionsAssigned(partitions);
        }
    }

    @Override
    public void onPartitionsRevokedBeforeCommit(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
        if (this.delegate instanceof ConsumerAwareRebalanceListener aware) {
            aware.onPartitionsRevokedBeforeCommit(consumer, partitions);
        } else {
            this.delegate.onPartitionsRevoked(partitions);
        }
    }

    @Override
    public void onPartitionsRevokedAfterCommit(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
        if (this.delegate instanceof ConsumerAwareRebalanceListener aware) {
            aware.onPartitionsRevokedAfterCommit(consumer, partitions);
        }
    }

    @Override
    public void onPartitionsLost(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
        if (this.delegate instanceof ConsumerAwareRebalanceListener aware) {
            aware.onPartitionsLost(consumer, partitions);
        } else {
            this.delegate.onPartitionsLost(partitions);
        }
    }
}
