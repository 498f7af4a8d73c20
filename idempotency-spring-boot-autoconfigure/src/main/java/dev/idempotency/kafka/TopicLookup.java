package dev.idempotency.kafka;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** What the brokers know of topics, and records do not say. */
public interface TopicLookup {

    /**
     * Asks for the id that the topic of this name has now.
     *
     * @throws ExecutionException if there is none, or the broker does not tell
     * @throws TimeoutException if the broker does not answer
     */
    Uuid topicId(BrokerConnection connection, String topic)
            throws ExecutionException, TimeoutException, InterruptedException;

    /**
     * Asks for the offset after the last record of a partition.
     *
     * @throws ExecutionException if there is no such partition, or the broker does not tell
     * @throws TimeoutException if the broker does not answer
     */
    long endOffset(BrokerConnection connection, TopicPartition partition)
            throws ExecutionException, TimeoutException, InterruptedException;
}
