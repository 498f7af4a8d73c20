package dev.idempotency.internal.reconciliation;

import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.job.PartitionReader.Range;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
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

    /** The records that the group has committed, by partition. */
    Map<TopicPartition, Range> committed(PartitionReader reader) {
        return ranges(reader, next -> new Range(0, next));
    }

    /** The records that the group has not committed yet, by partition. */
    Map<TopicPartition, Range> uncommitted(PartitionReader reader) {
        return ranges(reader, next -> new Range(next, Long.MAX_VALUE));
    }

    /** The parts of partitions that a range has, which depends on the next offset of the group. */
    private Map<TopicPartition, Range> ranges(PartitionReader reader, LongFunction<Range> range) {
        List<TopicPartition> partitions = partitions(reader);
        Map<TopicPartition, Long> next = reader.committed(partitions);
        Map<TopicPartition, Range> ranges = reader.contents(partitions);
        ranges.replaceAll((partition, contents) -> contents.intersect(range.apply(next.getOrDefault(partition, 0L))));
        return ranges;
    }
}
