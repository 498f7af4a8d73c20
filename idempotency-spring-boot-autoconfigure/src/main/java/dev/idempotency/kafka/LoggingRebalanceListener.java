package dev.idempotency.kafka;

import java.util.Collection;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;

/**
 * Logs what Spring Kafka logs of a container that has no rebalance listener, as it does so no longer where one is set.
 *
 * @param groupId the group of the container
 */
record LoggingRebalanceListener(Supplier<@Nullable String> groupId) implements ConsumerRebalanceListener {

    private static final Logger logger = LoggerFactory.getLogger(KafkaMessageListenerContainer.class);

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        logger.info("{}: partitions assigned: {}", this.groupId.get(), partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        logger.info("{}: partitions revoked: {}", this.groupId.get(), partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        logger.info("{}: partitions lost: {}", this.groupId.get(), partitions);
    }
}
