package dev.idempotency.internal.reconciliation;

import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.job.PartitionReader.Range;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/** The topics of a container, and how far its group has come. */
record ContainerScope(AbstractMessageListenerContainer<?, ?> container, String group) {

    private static final String PURPOSE = "reconciliation";

    /** Opens a reader that sees the same records as the container's consumers. */
    PartitionReader open() {
        Object isolation =
                ListenerContainers.consumerSettings(this.container).get(ConsumerConfig.ISOLATION_LEVEL_CONFIG);
        return new PartitionReader(
                BrokerConnection.of(this.container),
                PURPOSE,
                this.group,
                "read_committed".equalsIgnoreCase(String.valueOf(isolation)));
    }

    private List<TopicPartition> partitions(PartitionReader reader) {
        TopicPartitionOffset[] assigned =
                this.container.getContainerProperties().getTopicPartitions();
        if (assigned != null) {
            // The other partitions may be another consumer's, of the same group.
            return Arrays.stream(assigned)
                    .map(TopicPartitionOffset::getTopicPartition)
                    .distinct()
                    .filter(partition -> reader.partitionsOf(partition.topic()).contains(partition))
                    .toList();
        }
        return reader.topicsOf(this.container).stream()
                .flatMap(topic -> reader.partitionsOf(topic).stream())
                .toList();
    }

    /** The records that the group has committed, or those that it has not, by partition. */
    Map<TopicPartition, Range> records(PartitionReader reader, boolean committed) {
        List<TopicPartition> partitions = partitions(reader);
        Map<TopicPartition, Long> positions = reader.committed(partitions);
        Map<TopicPartition, Range> records = reader.contents(partitions);
        records.replaceAll((partition, contents) -> {
            long next = positions.getOrDefault(partition, 0L);
            return contents.intersect(committed ? new Range(0, next) : new Range(next, Long.MAX_VALUE));
        });
        return records;
    }
}
